import { AnthropicError, APIUserAbortError, RateLimitError } from '@anthropic-ai/sdk';
import type Anthropic from '@anthropic-ai/sdk';
import type { Reply } from '../../../rehearsal/script.ts';
import { paramsFor, startRig, textOf } from './support.ts';
import type { Rig } from './support.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.reset());
afterAll(() => rig.server.close());

const params = paramsFor('<goal>Open a bakery</goal>');
const stream = (): Promise<Anthropic.Message> => rig.client.messages.stream(params).finalMessage();
const create = (): Promise<Anthropic.Message> => rig.client.messages.create(params);
const play = (reply: Reply): void => rig.server.script([{ times: 1, reply }]);
const end = async (): Promise<unknown> => (await rig.server.waitForCalls(1, 'ended'))[0];

test.each<[Reply, object]>([
  [
    { status: 400, message: 'prompt is too long' },
    { status: 400, apiMessage: 'prompt is too long' },
  ],
  [{ status: 401 }, { status: 401, type: 'authentication_error' }],
  [{ status: 402 }, { status: 402, type: 'billing_error' }],
  [{ status: 404 }, { status: 404, type: 'not_found_error' }],
  [{ status: 418 }, { status: 418, type: 'invalid_request_error' }],
  [{ status: 500 }, { status: 500, type: 'api_error' }],
  [{ status: 529 }, { status: 529, type: 'overloaded_error' }],
  [
    { status: 429, errorCode: 'enforced_spend_limit_reached' },
    { errorCode: 'enforced_spend_limit_reached' },
  ],
  [
    { status: 413, body: '<html>too large</html>' },
    { status: 413, type: null },
  ],
  [
    { status: 503, body: { odd: true } },
    { status: 503, error: { odd: true } },
  ],
])('%j reaches the SDK', async (reply, expected) => {
  for (const ask of [stream, create]) {
    rig.server.script([{ reply }]);
    await expect(ask()).rejects.toMatchObject({
      ...expected,
      requestID: expect.stringMatching(/^req_/u),
    });
  }
  expect(rig.server.calls()).toMatchObject([{ outcome: 'answered' }, { outcome: 'answered' }]);
});

test('429 carries retry-after', async () => {
  play({ status: 429, headers: { 'retry-after': '2' } });
  const error: unknown = await stream().catch((cause: unknown) => cause);
  expect(error instanceof RateLimitError && error.headers.get('retry-after')).toBe('2');
});

test.each<[Reply, unknown, string]>([
  [{ cut: 'before-headers' }, null, 'Connection error'],
  [{ cut: 'after-headers' }, 200, 'terminated'],
  [{ cut: 'mid-stream' }, 200, 'terminated'],
  [{ cut: 'eof-without-stop' }, 200, 'stream ended without producing a Message'],
])('%j breaks the stream', async (reply, replyStatus, reason) => {
  play(reply);
  await expect(stream()).rejects.toThrow(reason);
  expect(await end()).toMatchObject({ outcome: 'cut', replyStatus });
});

test.each<Reply>([{ cut: 'before-headers' }, { cut: 'after-headers' }, { cut: 'mid-stream' }])(
  '%j breaks a whole reply',
  async (reply) => {
    play(reply);
    await expect(create()).rejects.toThrow(/terminated|Connection error/u);
    expect(await end()).toMatchObject({ outcome: 'cut' });
  },
);

test('afterEvents says how much of a scripted text comes before the cut', async () => {
  play({ cut: 'mid-stream', text: 'abc'.repeat(100), afterEvents: 5 });
  const seen: string[] = [];
  const cut = rig.client.messages.stream(params);
  cut.on('text', (piece) => seen.push(piece));
  await expect(cut.finalMessage()).rejects.toThrow('terminated');
  expect(seen).toEqual(['abc'.repeat(20), 'abc'.repeat(20)]);
});

test.each<Reply>([{ stall: 'before-headers' }, { stall: 'after-headers' }, { stall: 'in-stream' }])(
  '%j ends when the client goes, and the server notices',
  async (reply) => {
    play(reply);
    const abort = new AbortController();
    const call = rig.client.messages.stream(params, { signal: abort.signal }).finalMessage();
    await rig.server.waitForCalls(1);
    expect(rig.server.counts()).toMatchObject({ inFlight: 1 });
    abort.abort();
    await expect(call).rejects.toThrow(APIUserAbortError);
    expect(await end()).toMatchObject({ outcome: 'client-closed' });
    expect(rig.server.counts()).toMatchObject({ inFlight: 0, ended: 1 });
  },
);

test('a client that goes while the model thinks is noticed', async () => {
  play({ pass: true, thinkMs: 600_000 });
  const abort = new AbortController();
  const call = rig.client.messages.stream(params, { signal: abort.signal }).finalMessage();
  await rig.server.waitForCalls(1);
  abort.abort();
  await expect(call).rejects.toThrow(APIUserAbortError);
  expect(await end()).toMatchObject({ outcome: 'client-closed' });
});

test('an error event in mid-stream has its type and no status', async () => {
  play({ sseError: { type: 'overloaded_error', message: 'Overloaded' } });
  await expect(stream()).rejects.toMatchObject({ status: undefined, type: 'overloaded_error' });
  play({ sseError: { type: 'overloaded_error', message: 'Overloaded' } });
  await expect(create()).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
});

test.each<[Reply, unknown]>([
  [{ raw: '<html>hello</html>' }, '<html>hello</html>'],
  [{ raw: '', contentType: 'text/plain' }, ''],
  [{ raw: '{"type":"error"}' }, { type: 'error' }],
])('200 with %j resolves to what it is, when nothing is streamed', async (reply, expected) => {
  play(reply);
  expect(await create()).toEqual(expected);
});

test('broken event JSON breaks the stream', async () => {
  play({ raw: 'event: message_start\ndata: {"type":"mess\n\n' });
  await expect(stream()).rejects.toThrow(AnthropicError);
});

test.each(['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded', 'new_reason'])(
  'stop reason %s is sent as it is',
  async (stop_reason) => {
    play({ text: 'half', stop_reason });
    expect(await stream()).toMatchObject({
      stop_reason,
      content: [{ type: 'text', text: 'half' }],
    });
  },
);

test('an empty text makes a reply without content', async () => {
  play({ text: '' });
  expect(await stream()).toMatchObject({ stop_reason: 'end_turn', content: [] });
});

test('blocks, text and tool calls can come together', async () => {
  play({
    content: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }],
    text: 'Let me look.',
    tool_use: [
      { name: 'a', input: { x: 1 } },
      { name: 'b', input: {} },
    ],
  });
  expect(await stream()).toMatchObject({
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_rehearsal_000001_1', name: 'a', input: { x: 1 } },
      { type: 'tool_use', id: 'toolu_rehearsal_000001_2', name: 'b', input: {} },
    ],
  });
});

test('usage can be replaced in part and left out', async () => {
  play({ text: 'x', usage: { output_tokens: 777 } });
  expect((await stream()).usage).toMatchObject({
    output_tokens: 777,
    input_tokens: expect.any(Number),
  });
  play({ text: 'x', usage: null });
  expect((await create()).usage).toBeUndefined();
  play({ text: 'x', usage: null });
  expect((await stream()).usage.input_tokens).toBeUndefined();
});

test('a reply function sees the request and may reuse the default output', async () => {
  rig.server.script([
    {
      reply: (request) => ({ text: `${request.index}:${JSON.stringify(request.defaultOutput())}` }),
    },
  ]);
  expect(textOf(await stream())).toMatch(/^1:"## Rehearsal/u);
});

test('a reply function that throws is a server error that says why', async () => {
  rig.server.script([
    {
      reply: () => {
        throw new Error('no such luck');
      },
    },
  ]);
  await expect(stream()).rejects.toMatchObject({
    status: 500,
    apiMessage: expect.stringContaining('no such luck'),
  });
});
