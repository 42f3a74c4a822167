import { findSharedPrefix, PrefixGate } from '../../../activities/agent-turn/prefix-gate.ts';
import type { Passage } from '../../../activities/agent-turn/prefix-gate.ts';
import type { ModelRequest } from '../../../activities/ports/model-client.ts';

const never = new AbortController().signal;

const request = (changes: Partial<ModelRequest> = {}, text = 'x'.repeat(8_000)): ModelRequest => ({
  model: 'rehearsal',
  maxOutputTokens: 1_000,
  system: [{ text: 'rules', cacheBreakpoint: true }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text, cache_breakpoint: true },
        { type: 'text', text: 'own' },
      ],
    },
  ],
  tools: [],
  callKey: 'run/wave-001/a',
  ...changes,
});

const keyOf = (changes: Partial<ModelRequest> = {}, text?: string): string | null =>
  findSharedPrefix(request(changes, text), 'agent_output');

/** Lets everything run that waits for nothing but promises. */
const settle = async (): Promise<void> => {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
};

/** Calls that come to a gate one after the other, and which of them are through. */
async function sendAll(gate: PrefixGate, keys: readonly (string | null)[], signal = never) {
  const through: (Passage | null)[] = keys.map(() => null);
  keys.forEach((key, at) => {
    void (async () => {
      through[at] = await gate.enter(key, signal);
    })();
  });
  await settle();
  return {
    through,
    list: (): boolean[] => through.map((passage) => passage !== null),
  };
}

describe('calls with one prefix', () => {
  it('PG1: the first goes, the others go when its reply begins', async () => {
    const { through, list } = await sendAll(new PrefixGate(), ['a', 'a', 'a']);
    expect(list()).toEqual([true, false, false]);
    through[0]?.begun();
    await settle();
    expect(list()).toEqual([true, true, true]);
  });

  it('PG1: when the first fails, one other goes in its place', async () => {
    const { through, list } = await sendAll(new PrefixGate(), ['a', 'a', 'a']);
    through[0]?.ended();
    await settle();
    expect(list()).toEqual([true, true, false]);
    through[1]?.begun();
    await settle();
    expect(list()).toEqual([true, true, true]);
  });

  it('PG1: another prefix, or none, waits for nobody', async () => {
    const { list } = await sendAll(new PrefixGate(), ['a', 'b', null, null]);
    expect(list()).toEqual([true, true, true, true]);
  });

  it('PG2: the wait has an end, though the first call hangs', async () => {
    const gate = new PrefixGate({ waitMs: 20 });
    await gate.enter('a', never);
    const passages = await Promise.all([gate.enter('a', never), gate.enter('a', never)]);
    expect(passages).toHaveLength(2);
  });

  it('PG2: an aborted signal ends the wait, now and before', async () => {
    const gate = new PrefixGate();
    await gate.enter('a', never);
    const controller = new AbortController();
    const waiting = gate.enter('a', controller.signal);
    controller.abort();
    await expect(waiting).resolves.toHaveProperty('begun');
    await expect(gate.enter('a', AbortSignal.abort())).resolves.toHaveProperty('begun');
  });

  it('PG3: stays open for as long as the provider keeps it, from the last reply on', async () => {
    let nowMs = 0;
    const gate = new PrefixGate({ now: () => nowMs });
    const begin = async (): Promise<void> => {
      const passage = await gate.enter('a', never);
      passage.begun();
      passage.ended();
    };
    await begin();
    nowMs = 290_000;
    await begin();
    nowMs = 580_000;
    expect((await sendAll(gate, ['a', 'a'])).list()).toEqual([true, true]);
    nowMs = 900_000;
    expect((await sendAll(gate, ['a', 'a'])).list()).toEqual([true, false]);
  });

  it('PG3: a call that gave up waiting opens the prefix too', async () => {
    const gate = new PrefixGate({ waitMs: 20 });
    await gate.enter('a', never);
    (await gate.enter('a', never)).begun();
    expect((await sendAll(gate, ['a', 'a'])).list()).toEqual([true, true]);
  });

  it('PG4: remembers a bounded number, and nothing of what failed', async () => {
    const gate = new PrefixGate();
    (await gate.enter('failed', never)).ended();
    expect(gate.size).toBe(0);
    for (let n = 0; n < 1_500; n += 1) {
      // oxlint-disable-next-line no-await-in-loop
      (await gate.enter(`prefix ${n}`, never)).begun();
    }
    expect(gate.size).toBe(1_000);
  });
});

describe('what calls have in common', () => {
  it('is model, rules, tools, output and the wave’s part, and not who calls', () => {
    expect(keyOf({ callKey: 'run/wave-001/b', maxOutputTokens: 2_000 })).toBe(keyOf());
    const others = [
      keyOf({ model: 'another' }),
      keyOf({ system: [] }),
      keyOf({}, 'y'.repeat(8_000)),
      findSharedPrefix(request(), 'wave_plan'),
    ];
    expect(new Set([keyOf(), ...others]).size).toBe(5);
  });

  it('is nothing to wait for when it is short or does not exist', () => {
    expect(keyOf({}, 'short')).toBeNull();
    const content = [{ type: 'text' as const, text: 'x'.repeat(8_000) }];
    expect(keyOf({ messages: [{ role: 'user', content }] })).toBeNull();
    expect(keyOf({ messages: [] })).toBeNull();
  });
});
