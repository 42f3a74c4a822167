import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { failureConsequences } from '../../../contracts/errors.ts';
import type { ErrorReply } from '../../../rehearsal/script.ts';
import { apiKey, asFailure, callOptions, request, startModelBench } from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

let bench: ModelBench;
beforeAll(async () => {
  bench = await startModelBench();
});
afterAll(() => bench.server.close());

type Row = readonly [title: string, reply: ErrorReply, type: string, retryable: boolean];

/** The rows of the table of model-api.md that come as an HTTP status. */
const statusRows: readonly Row[] = [
  ['400', { status: 400 }, 'ModelRequest', false],
  [
    '400 "prompt is too long"',
    { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    'ModelContextExceeded',
    false,
  ],
  [
    '400 "compiled grammar is too large"',
    { status: 400, message: 'The compiled grammar is too large, simplify your schema' },
    'ModelRequest',
    false,
  ],
  [
    '400 with a spend limit set by the user',
    {
      status: 400,
      message:
        'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
    },
    'ModelSpendCap',
    false,
  ],
  [
    '400 with an empty account',
    { status: 400, message: 'Your credit balance is too low to access the API.' },
    'ModelBilling',
    false,
  ],
  ['401', { status: 401 }, 'ModelAuth', false],
  ['402', { status: 402 }, 'ModelBilling', false],
  [
    '402 with a spend limit of a linked organization',
    { status: 402, errorCode: 'linked_organization_spend_limit_reached' },
    'ModelSpendCap',
    false,
  ],
  ['403', { status: 403 }, 'ModelAuth', false],
  ['404', { status: 404 }, 'ModelGone', false],
  ['408', { status: 408 }, 'ModelUnavailable', true],
  ['409', { status: 409 }, 'ModelUnavailable', true],
  ['412', { status: 412 }, 'ModelRequest', false],
  [
    '413 as an HTML page',
    { status: 413, body: '<html><h1>413 Request Entity Too Large</h1></html>' },
    'ModelRequest',
    false,
  ],
  ['422', { status: 422 }, 'ModelRequest', false],
  ['429 without retry-after', { status: 429 }, 'ModelUnavailable', true],
  [
    '429 ramp_limit_exceeded',
    { status: 429, errorCode: 'ramp_limit_exceeded' },
    'ModelUnavailable',
    true,
  ],
  [
    '429 enforced_spend_limit_reached',
    { status: 429, errorCode: 'enforced_spend_limit_reached' },
    'ModelSpendCap',
    false,
  ],
  [
    '429 contract_spend_limit_reached',
    { status: 429, errorCode: 'contract_spend_limit_reached' },
    'ModelSpendCap',
    false,
  ],
  ['431', { status: 431, body: '' }, 'ModelRequest', false],
  ['499', { status: 499, body: '' }, 'ModelUnavailable', true],
  ['500', { status: 500 }, 'ModelUnavailable', true],
  ['501', { status: 501 }, 'ModelUnavailable', true],
  [
    '502, which is in no row',
    { status: 502, body: '<html>Bad Gateway</html>' },
    'ModelUnavailable',
    true,
  ],
  ['503', { status: 503 }, 'ModelUnavailable', true],
  ['504', { status: 504 }, 'ModelUnavailable', true],
  ['529', { status: 529 }, 'ModelUnavailable', true],
  ['418, which is in no row', { status: 418 }, 'ModelRequest', false],
  [
    '418 with x-should-retry: true',
    { status: 418, headers: { 'x-should-retry': 'true' } },
    'ModelUnavailable',
    true,
  ],
  [
    '555 with x-should-retry: false',
    { status: 555, headers: { 'x-should-retry': 'false' } },
    'ModelRequest',
    false,
  ],
];

describe('HTTP errors', () => {
  it.each(statusRows)('MC1, CE2: %s', async (_title, reply, type, retryable) => {
    const failure = await bench.fail(reply);
    expect(failure).toMatchObject({ type, retryable, details: { status: reply.status } });
    // An error status is not billed.
    expect(failure.details).toMatchObject({ model: 'rehearsal', usage: null });
    expect(failure.message).toMatch(
      new RegExp(`^[A-Z].*\\(HTTP ${reply.status}\\b.*\\)\\..*\\.$`, 's'),
    );
    expect(failure.cause).toBeUndefined();
  });

  it('a failure that is not retried stops or parks; one that is retried does not', () => {
    for (const [, , type, retryable] of statusRows) {
      const consequence = Object.entries(failureConsequences).find(([name]) => name === type)?.[1];
      expect(consequence === 'retry').toBe(retryable);
    }
  });

  it('the details carry status, type, error code, request id and model', async () => {
    const failure = await bench.fail({
      status: 429,
      errorType: 'rate_limit_error',
      errorCode: 'ramp_limit_exceeded',
      headers: { 'request-id': 'req_of_the_test' },
    });
    expect(failure.details).toEqual({
      status: 429,
      type: 'rate_limit_error',
      error_code: 'ramp_limit_exceeded',
      request_id: 'req_of_the_test',
      model: 'rehearsal',
      usage: null,
    });
    expect(failure.message).toContain('request req_of_the_test');
  });

  it('CE5: the text says what the API said, but never the key or the prompt', async () => {
    const secret = 'the launch code is 4711-0815 and nobody may know';
    const failure = await bench.fail(
      {
        status: 400,
        message: `max_tokens: too high. You sent "${secret}" with ${apiKey}\n\u001b[31mand more`,
      },
      { system: [{ text: `Remember: ${secret}.`, cacheBreakpoint: false }] },
    );
    expect(failure.message).toContain('max_tokens: too high.');
    const whole = `${failure.message} ${failure.stack} ${JSON.stringify(failure)}`;
    expect(whole).not.toContain('4711-0815');
    expect(whole).not.toContain(apiKey);
    expect(failure.message).not.toContain('\u001b');
  });

  it('CE5: an HTML page is not quoted', async () => {
    const failure = await bench.fail({ status: 413, body: '<html>planted secret</html>' });
    expect(failure.message).not.toContain('planted');
  });
});

async function wait(value: string): Promise<number | undefined> {
  return (await bench.fail({ status: 429, headers: { 'retry-after': value } })).retryAfterMs;
}

describe('429 with retry-after', () => {
  it('CE4: waits at least the seconds it asks for, and at most a second of jitter more', async () => {
    const waitMs = await wait('2');
    expect(waitMs).toBeGreaterThanOrEqual(2_000);
    expect(waitMs).toBeLessThanOrEqual(3_000);
  });

  it('takes a date', async () => {
    const waitMs = await wait(new Date(Date.now() + 60_000).toUTCString());
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(66_000);
  });

  it('waits at most 15 minutes', async () => {
    expect(await wait('86400')).toBe(900_000);
  });

  it.each(['', 'soon', '-5'])('"%s" is no wait in the past or without end', async (value) => {
    const waitMs = await wait(value);
    expect(waitMs ?? 0).toBeGreaterThanOrEqual(0);
    expect(waitMs ?? 0).toBeLessThanOrEqual(1_000);
  });

  it('CE1: a spend cap is not waited for, whatever the header says', async () => {
    const failure = await bench.fail({
      status: 429,
      errorCode: 'enforced_spend_limit_reached',
      headers: { 'retry-after': '2' },
    });
    expect(failure).toMatchObject({ retryable: false, retryAfterMs: undefined });
  });
});

describe('connection errors', () => {
  it('refused before headers: can be repeated, was not billed, names the address', async () => {
    const other = await startModelBench();
    await other.server.close();
    const failure = await other.client.complete(request, callOptions()).catch(asFailure);
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(failure).toMatchObject({ details: { status: null, usage: null } });
    expect(asFailure(failure).message).toContain(`ECONNREFUSED, ${other.server.url}`);
  });

  it('reset before headers: can be repeated, may have been billed', async () => {
    const failure = await bench.fail({ cut: 'before-headers' });
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(failure.details.usage).toMatchObject({ calls: 0, unreported_calls: 1 });
  });

  it('a name that no server has', async () => {
    const client = createAnthropicClient({ apiKey, baseUrl: 'http://no-such-host.invalid' });
    const failure = await client.complete(request, callOptions()).catch(asFailure);
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(failure).toMatchObject({ details: { usage: null } });
  });
});
