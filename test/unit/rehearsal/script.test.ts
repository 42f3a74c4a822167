import { AgentOutput } from '../../../contracts/agent-output.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import { createClient, paramsFor, plainFormat, startRig, textOf } from './support.ts';
import type { Rig } from './support.ts';
import { WrittenPlan } from '../../../contracts/wave-plan.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.reset());
afterAll(() => rig.server.close());

const say = async (content: string, callKey = 'run/a'): Promise<string> =>
  textOf(await rig.client.messages.create(paramsFor(content, { metadata: { user_id: callKey } })));
const http = (path: string, body?: unknown): Promise<Response> =>
  fetch(`${rig.server.url}/_rehearsal/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test('the first rule that fits answers, and times limits it', async () => {
  rig.server.script([
    { match: { callKeyIncludes: 'run/b' }, reply: { text: 'for b' } },
    { match: { bodyIncludes: 'bread' }, times: 1, reply: { text: 'bread once' } },
    { times: 1, reply: { text: 'anything once' } },
  ]);
  expect(await say('bread', 'run/b')).toBe('for b');
  expect(await say('bread')).toBe('bread once');
  expect(await say('bread')).toBe('anything once');
  expect(await say('bread')).toContain('## Rehearsal');
  expect(rig.server.calls().map((call) => call.rule)).toEqual([0, 1, 2, null]);
});

test('nth counts the calls that fit, also those that another rule answered', async () => {
  rig.server.script([
    { match: { bodyIncludes: 'x', nth: 2 }, reply: { text: 'second' } },
    { match: { nth: 3 }, reply: { text: 'third' } },
    { reply: { text: 'other' } },
  ]);
  const replies = [await say('x'), await say('x'), await say('x'), await say('x')];
  expect(replies).toEqual(['other', 'second', 'third', 'other']);
});

test('a rule for a shape leaves other shapes alone', async () => {
  rig.server.script([{ match: { schema: 'plan' }, reply: { json: { mine: true } } }]);
  const ask = async (shape: typeof WrittenPlan | typeof AgentOutput): Promise<string> =>
    textOf(
      await rig.client.messages.create(
        paramsFor('go', { output_config: { format: plainFormat(shape) } }),
      ),
    );
  expect(await ask(WrittenPlan)).toBe('{"mine":true}');
  expect(AgentOutput.parse(JSON.parse(await ask(AgentOutput))).status).toBe('completed');
  expect(rig.server.calls().map((call) => call.shape)).toEqual(['plan', 'delegation']);
});

test('pass answers by the default rules with another envelope', async () => {
  rig.server.script([{ reply: { pass: true, delayMs: 1, stop_reason: 'pause_turn' } }]);
  const message = await rig.client.messages.create(paramsFor('Open a bakery'));
  expect(textOf(message)).toContain('Open a bakery');
  expect(message.stop_reason).toBe('pause_turn');
});

test('calls are recorded with their key, body and headers, but without secrets', async () => {
  await say('hello', 'run/wave-001');
  const [call] = rig.server.calls();
  expect(call).toMatchObject({
    index: 1,
    callKey: 'run/wave-001',
    body: { model: 'claude-opus-5-5' },
    headers: { 'content-type': 'application/json' },
    outcome: 'answered',
    replyStatus: 200,
  });
  expect(Object.keys(call?.headers ?? {})).not.toContain('x-api-key');
  expect(call?.endedAtMs).toBeGreaterThanOrEqual(call?.startedAtMs ?? Infinity);
});

test('calls in flight are counted', async () => {
  rig.server.script([{ reply: { stall: 'before-headers' } }]);
  const abort = new AbortController();
  const calls = [1, 2, 3].map((n) =>
    rig.client.messages.create(paramsFor(`${n}`), { signal: abort.signal }).catch(() => n),
  );
  await rig.server.waitForCalls(3);
  expect(rig.server.counts()).toEqual({ calls: 3, ended: 0, inFlight: 3, maxInFlight: 3 });
  abort.abort();
  await Promise.all(calls);
  await rig.server.waitForCalls(3, 'ended');
  expect(rig.server.counts()).toEqual({ calls: 3, ended: 3, inFlight: 0, maxInFlight: 3 });
});

test('waiting can be given up', async () => {
  const given = rig.server.waitForCalls(1, 'arrived', AbortSignal.abort());
  await expect(given).rejects.toMatchObject({ name: 'AbortError' });
});

test('reset goes back to the start, and a call from before it no longer counts', async () => {
  rig.server.script([{ times: 1, reply: { stall: 'before-headers' } }]);
  const abort = new AbortController();
  const old = rig.client.messages.create(paramsFor('old'), { signal: abort.signal }).catch(() => 0);
  await rig.server.waitForCalls(1);
  rig.server.reset();
  await say('new');
  abort.abort();
  await old;
  expect(rig.server.calls()).toMatchObject([{ index: 1, outcome: 'answered' }]);
  expect(rig.server.counts()).toEqual({ calls: 1, ended: 1, inFlight: 0, maxInFlight: 1 });
});

test('the same surface works over HTTP', async () => {
  expect((await http('script', [{ times: 1, reply: { text: 'over HTTP' } }])).status).toBe(200);
  const waiting = http('wait?calls=1&until=ended');
  expect(await say('go')).toBe('over HTTP');
  expect(await (await waiting).json()).toMatchObject({ counts: { calls: 1, ended: 1 } });
  expect(await (await http('calls')).json()).toMatchObject({ calls: [{ index: 1, rule: 0 }] });
  expect((await http('reset', {})).status).toBe(200);
  expect(await (await http('calls')).json()).toMatchObject({ calls: [], counts: { calls: 0 } });
});

test('waiting over HTTP ends with 408 and says how far it came', async () => {
  const response = await http('wait?calls=2&timeout_ms=1');
  expect(response.status).toBe(408);
  expect(JSON.stringify(await response.json())).toContain('Arrived: 0, ended: 0');
});

test.each([
  [{}, 'Expected a list of rules'],
  [[1], 'rules[0]: is no object'],
  [[{ reply: {} }], 'reply needs one of'],
  [[{ reply: { text: 'x' } }, { mach: {}, reply: { text: 'x' } }], 'rules[1]: mach is not known'],
  [[{ match: { callKey: 'x' }, reply: { text: 'x' } }], 'match.callKey is not known'],
  [[{ match: { nth: '1' }, reply: { text: 'x' } }], 'match.nth must be a number'],
  [[{ reply: { cut: 'sometimes' } }], 'reply.cut must be one of'],
  [[{ times: '1', reply: { text: 'x' } }], 'times must be a number'],
])('a bad script is refused with the reason: %j', async (script, reason) => {
  const response = await http('script', script);
  expect(response.status).toBe(400);
  expect(JSON.stringify(await response.json())).toContain(reason);
});

test('the paths for scripts exist only when they were asked for', async () => {
  const server = await startRehearsalServer({ port: 0 });
  const response = await fetch(`${server.url}/_rehearsal/calls`);
  expect(response.status).toBe(404);
  await server.close();
});

test('closing the server cuts what is in flight', async () => {
  const server = await startRehearsalServer({ port: 0, thinkMs: 600_000 });
  const call = createClient(server.url).messages.create(paramsFor('go'));
  await server.waitForCalls(1);
  await Promise.all([expect(call).rejects.toThrow('Connection error'), server.close()]);
  expect(server.calls()).toMatchObject([{ outcome: 'cut', replyStatus: null }]);
});

test('a server that keeps no calls still counts them', async () => {
  const server = await startRehearsalServer({ port: 0, thinkMs: 0, keepsCalls: false });
  await createClient(server.url).messages.create(paramsFor('go'));
  expect(server.calls()).toEqual([]);
  expect(server.counts()).toEqual({ calls: 1, ended: 1, inFlight: 0, maxInFlight: 1 });
  await server.close();
});

test('a port in use is reported by number', async () => {
  await expect(startRehearsalServer({ port: rig.server.port })).rejects.toMatchObject({
    name: 'PortInUse',
    port: rig.server.port,
  });
});
