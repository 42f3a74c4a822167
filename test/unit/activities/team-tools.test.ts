import { settleCalls } from '../../../activities/agent-turn/settle-calls.ts';
import {
  stateTools,
  createToolRegistry,
} from '../../../activities/tools/registry/create-registry.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import type { ReadStateCall, TeamCall } from '../../../contracts/state-call.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { startModelBench } from '../adapters/model-bench.ts';
import { hashTask } from '../../../core/team/draft-calls.ts';

const name = 'delegate_task_to_member';
const offered = [name] as const;

/** Settles the calls of one reply of a leader. */
async function settle(...inputs: readonly unknown[]) {
  const store = createMemoryStore();
  const settled = await settleCalls(
    { store, tools: createToolRegistry([loadDetail]), stateTools: offered },
    inputs.map((input, i) => ({ type: 'tool_use', id: `t${i}`, name, input })),
  );
  if (!settled.ok) throw new Error(settled.fault.reason);
  const states = settled.calls.flatMap((call) => ('state' in call ? [call.state] : []));
  return { store, states };
}

const callOf = (state: ReadStateCall | undefined): TeamCall => {
  if (state?.ok !== true || state.call.tool !== name) throw new Error(JSON.stringify(state));
  return state.call;
};

const faultsOf = async (input: unknown): Promise<string> => {
  const { store, states } = await settle(input);
  const [state] = states;
  if (state === undefined || state.ok) throw new Error('the arguments were taken');
  expect(state.tool).toBe(name);
  expect(store.artifacts.size).toBe(0);
  return state.faults.map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}`).join('\n');
};

const task = '\n  Compare\tthree databases. \nName their prices.';

describe('a task that a leader gives out', () => {
  it('is stored as it was written, with what the rules go by beside it', async () => {
    const { store, states } = await settle({ member_id: 'analysis', task, inputs: ['outline'] });
    const call = callOf(states[0]);
    expect(call).toEqual({
      tool: name,
      member_id: 'analysis',
      name: null,
      inputs: ['outline'],
      task_ref: expect.any(String),
      title: 'Compare three databases.',
      task_hash: hashTask('compare three databases. name their prices'),
      mentions: [],
    });
    expect(await store.getText(call.task_ref)).toBe(task.trim());
  });

  it('has a title of one clean line, whatever it begins with', async () => {
    const { states } = await settle(
      { member_id: 'a', task: '\u202e\u200b\nreal work' },
      { member_id: 'a', task: `## ${'x'.repeat(300)}` },
    );
    const titles = states.map((state) => callOf(state).title);
    expect(titles[0]).toBe('A task without words');
    expect(titles[1]).toHaveLength(120);
  });

  it('says which other tasks of the same reply it speaks of, as names and members', async () => {
    const { states } = await settle(
      { member_id: 'researcher', task: 'Find sources.', name: 'sources' },
      { member_id: 'writer', task: "Write from the researcher's SOURCES, as a writer." },
      { member_id: 'nobody' },
      { member_id: 'editor', task: 'Ask nobody. Improve what the writer made.' },
    );
    const mentions = states.map((state) => (state.ok ? callOf(state).mentions : null));
    expect(mentions).toEqual([[], ['sources', 'researcher'], null, ['writer']]);
  });
});

describe('arguments of a leader that do not fit', () => {
  const input = { member_id: 'researcher', task: 'Find three sources.' };

  it('case 6.1: a string that holds the JSON is taken for it', async () => {
    const { states } = await settle(JSON.stringify(input));
    expect(callOf(states[0])).toMatchObject({ member_id: 'researcher' });
  });

  it.each(['delegate!', '{"member_id":', '"text"', '[1]', 'null'])(
    'case 6.1: the string %j comes back with what was expected',
    async (text) => {
      expect(await faultsOf(text)).toMatch(
        /^\$: .*expected object, received string\. Try: give it as object\.$/,
      );
    },
  );

  it('case 6.1: what is sent back to the API is an object, for it refuses all else', async () => {
    const bench = await startModelBench();
    try {
      const calls = [JSON.stringify(input), 'delegate!'];
      const reply = await bench.reply({ tool_use: calls.map((one) => ({ name, input: one })) });
      const messages = [
        { role: 'user', content: [{ type: 'text', text: 'Lead.' }] },
        { role: 'assistant', content: reply.content },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      ] as const;
      await bench.reply({ text: 'ok' }, { messages });
      const sent = JSON.stringify(bench.server.calls()[0]?.body);
      expect(sent).toContain(`"input":${JSON.stringify(input)}`);
      expect(sent).toContain('"input":{"arguments":"delegate!"}');
    } finally {
      await bench.server.close();
    }
  });

  it.each([
    [{ task: 'T' }, /^member_id: missing, expected string\. Try: add it\.$/],
    [{ member_id: 'researcher' }, /^task: missing, expected string\. Try: add it\.$/],
    [{}, /member_id: missing.*\ntask: missing/],
    [{ member_id: '', task: '  ' }, /member_id: too little.*\ntask: too little/],
  ])('case 6.2: %j', async (wrong, expected) => {
    expect(await faultsOf(wrong)).toMatch(expected);
  });

  it.each([
    [
      { ...input, member_id: 7 },
      /^member_id: .*expected string, received number\. Try: give it as/,
    ],
    [
      { ...input, task: ['T'] },
      /^task: .*expected string, received array\. Try: give it as string/,
    ],
    [{ ...input, inputs: 'outline' }, /^inputs: .*expected array, received string\. Try: /],
    [{ ...input, name: 'My Outline' }, /^name: expected 1 to 40 lower-case.* Try: "market/],
    [{ ...input, inputs: [''] }, /^inputs\[0\]: too little/],
    [{ ...input, agent: 'x' }, /^\$: fields that do not belong here: "agent"\. Try: leave/],
  ])('case 6.3: %j', async (wrong, expected) => {
    expect(await faultsOf(wrong)).toMatch(expected);
  });

  it('case 1.3: beside calls that fit, in their order, and with all faults at once', async () => {
    const { states } = await settle(input, { member_id: 7, inputs: {} }, null, input);
    expect(states.map((state) => (state.ok ? 'taken' : state.faults.length))).toEqual([
      'taken',
      3,
      2,
      'taken',
    ]);
  });

  it('case 1.3: null stands for what is left out', async () => {
    const { states } = await settle({ ...input, name: null, inputs: null });
    expect(callOf(states[0])).toMatchObject({ name: null, inputs: [] });
  });
});

it('what the model is told of the tool says when, how many, what it sees and what comes back', () => {
  const { description } = stateTools[name].spec;
  for (const part of ['Use it', 'in one reply', 'inputs', 'It returns', 'Limits', 'Example: ']) {
    expect(description).toContain(part);
  }
});
