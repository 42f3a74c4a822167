import { getEventListeners } from 'node:events';
import { globalAgent } from 'node:https';
import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import {
  apiKey,
  asAborted,
  asFailure,
  callOptions,
  request,
  startModelBench,
} from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

let bench: ModelBench;
beforeAll(async () => {
  bench = await startModelBench();
});
beforeEach(() => bench.server.reset());
afterAll(() => bench.server.close());

/** The one call that the server saw, once it is over there too: the socket is closed. */
async function endedCall() {
  const calls = await bench.server.waitForCalls(1, 'ended');
  expect(calls).toHaveLength(1);
  return calls[0];
}

/** Long enough for a request to get out on a busy machine: else the fault never happens. */
const idleTimeoutMs = 1_500;

describe('the idle limit', () => {
  const stalls: readonly (readonly [string, Reply])[] = [
    ['before headers', { stall: 'before-headers' }],
    ['in the body', { stall: 'after-headers' }],
    ['in the stream', { stall: 'in-stream', afterEvents: 3, text: 'a text that never ends' }],
  ];

  it.each(stalls)('fault 21, MC2: a stall %s ends at the limit', async (_title, reply) => {
    bench.server.script([{ reply }]);
    const client = bench.createClient({ idleTimeoutMs });
    const failure = await client.complete(request, callOptions()).catch(asFailure);
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(asFailure(failure).message).toContain('sent nothing for 1.5 s (idle limit)');
    expect(await endedCall()).toMatchObject({ rule: 0, outcome: 'client-closed' });
  });

  it('what the stalled stream had counted is kept', async () => {
    bench.server.script([{ reply: { stall: 'in-stream', afterEvents: 3, text: 'endless' } }]);
    const client = bench.createClient({ idleTimeoutMs });
    const failure = asFailure(await client.complete(request, callOptions()).catch(asFailure));
    expect(failure.details.usage).toMatchObject({ calls: 1, unpriced_calls: 0 });
    expect(failure.details.usage?.input_tokens).toBeGreaterThan(0);
  });

  it('a stream that goes on longer than the limit, but never falls silent, is left alone', async () => {
    bench.server.script([{ reply: { text: 'word '.repeat(200), thinkMs: 4_500 } }]);
    // Twenty times the time between two pieces.
    const client = bench.createClient({ idleTimeoutMs: 3_000 });
    const reply = await client.complete(request, callOptions());
    expect(reply.stopReason).toBe('end_turn');
  });
});

describe('the total limit', () => {
  it('ends a call however lively it is', async () => {
    bench.server.script([{ reply: { text: 'word '.repeat(2_000), thinkMs: 60_000 } }]);
    const client = bench.createClient({ totalTimeoutMs: 1_500 });
    const failure = asFailure(await client.complete(request, callOptions()).catch(asFailure));
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(failure.message).toContain('longer than 1.5 s (total limit)');
    expect(await endedCall()).toMatchObject({ outcome: 'client-closed' });
  });
});

describe('the size limit', () => {
  const comment = `: ${'x'.repeat(1024 * 1024)}\n\n`;
  const streams: readonly (readonly [string, string])[] = [
    ['a line of more than 8 MB', `data: ${'x'.repeat(9 * 1024 * 1024)}`],
    ['a body of more than 64 MB', comment.repeat(66)],
  ];

  it.each(streams)('finding T12: %s ends the call, once and for all', async (_title, raw) => {
    bench.server.script([{ reply: { raw, contentType: 'text/event-stream' } }]);
    const failure = asFailure(await bench.client.complete(request, callOptions()).catch(asFailure));
    expect(failure).toMatchObject({ type: 'ModelProtocol', retryable: false });
    expect(failure.message).toContain('more than any reply can hold');
    await endedCall();
  });
});

describe('cancellation', () => {
  it('closes the socket and keeps what was counted', async () => {
    bench.server.script([{ reply: { stall: 'in-stream', afterEvents: 3, text: 'endless' } }]);
    const caller = new AbortController();
    const onProgress = (): void => caller.abort();
    const options = { signal: caller.signal, onProgress };
    const aborted = asAborted(await bench.client.complete(request, options).catch(asAborted));
    expect(aborted.tokens?.inputTokens).toBeGreaterThan(0);
    expect(aborted.model).toBe('rehearsal');
    expect(await endedCall()).toMatchObject({ rule: 0, outcome: 'client-closed' });
  });

  it('before the headers: nothing was counted', async () => {
    bench.server.script([{ reply: { stall: 'before-headers' } }]);
    const caller = new AbortController();
    const call = bench.client.complete(request, callOptions(caller.signal)).catch(asAborted);
    await bench.server.waitForCalls(1);
    caller.abort();
    expect(asAborted(await call).tokens).toBeNull();
    expect(await endedCall()).toMatchObject({ outcome: 'client-closed' });
  });

  it('before the call: nothing is sent', async () => {
    const aborted = await bench.client
      .complete(request, callOptions(AbortSignal.abort()))
      .catch(asAborted);
    expect(asAborted(aborted).tokens).toBeNull();
    expect(bench.server.counts().calls).toBe(0);
  });

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    const call = bench.client.complete(request, callOptions(signal));
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
    await call;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('settings', () => {
  it.each(['', 'sk key', 'sk-key\n', 'sk-schlüssel'])(
    'the key %j is refused and not shown',
    (key) => {
      expect(() => createAnthropicClient({ apiKey: key })).toThrow(
        /^The API key is empty or holds/,
      );
    },
  );

  it.each(['', 'localhost', 'ftp://host', 'http://user:planted@host'])(
    'the URL %j is refused and not shown',
    (baseUrl) => {
      const create = () => createAnthropicClient({ apiKey, baseUrl });
      expect(create).toThrow(/^The base URL of the model API must be/);
      expect(create).not.toThrow(/planted/);
    },
  );

  it('MC4: the environment is not asked for an address', async () => {
    process.env['ANTHROPIC_BASE_URL'] = bench.server.url;
    const agent: { createConnection?: unknown } = globalAgent;
    const hosts: unknown[] = [];
    // Nothing may leave this machine.
    agent.createConnection = ({ host }: { host: string }) => {
      hosts.push(host);
      throw new TypeError('no connection');
    };
    try {
      const client = createAnthropicClient({ apiKey });
      await client.complete(request, callOptions()).catch(asFailure);
    } finally {
      delete process.env['ANTHROPIC_BASE_URL'];
      delete agent.createConnection;
    }
    expect(hosts).toEqual(['api.anthropic.com']);
  });
});
