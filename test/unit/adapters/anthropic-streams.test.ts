import type { ModelCallOptions } from '../../../activities/ports/model-client.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { asFailure, callOptions, request, startModelBench } from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

let bench: ModelBench;
beforeAll(async () => {
  bench = await startModelBench();
});
afterAll(() => bench.server.close());

describe('streams that break', () => {
  const cuts: readonly (readonly [string, Reply])[] = [
    ['socket cut after the headers', { cut: 'after-headers' }],
    ['socket cut in mid-stream', { cut: 'mid-stream', text: 'half of a long text' }],
    ['clean end without message_stop', { cut: 'eof-without-stop', text: 'half of a long text' }],
    [
      'broken JSON in an event',
      { raw: 'event: message_start\ndata: {"type":"message_start","mess\n\n' },
    ],
  ];

  it.each(cuts)('MC3: %s: no half text, can be repeated', async (_title, reply) => {
    const failure = await bench.fail(reply);
    expect(failure).toMatchObject({ type: 'ModelUnavailable', retryable: true });
    expect(failure.message).not.toContain('half of');
  });

  it('what was counted before the cut is kept', async () => {
    const failure = await bench.fail({ cut: 'mid-stream', afterEvents: 3, text: 'half of it' });
    expect(failure.details.usage?.input_tokens).toBeGreaterThan(0);
    expect(failure.details.request_id).toMatch(/^req_/);
  });

  it('finding T2: the output of a cut stream is counted from what arrived', async () => {
    bench.server.script([
      { reply: { cut: 'mid-stream', afterEvents: 9, text: 'half '.repeat(90) } },
    ]);
    let bytes = 0;
    const onProgress: ModelCallOptions['onProgress'] = ({ arrived }) => {
      bytes += arrived?.text.length ?? 0;
    };
    const call = bench.client.complete(request, { ...callOptions(), onProgress });
    const { usage } = asFailure(await call.catch(asFailure)).details;
    expect(bytes).toBeGreaterThan(30);
    // The provider has counted one token, at the beginning.
    expect(usage).toMatchObject({ calls: 1, output_tokens: 1 + Math.ceil(bytes / 3) });
  });

  it.each([
    ['overloaded_error', 'ModelUnavailable', true],
    ['api_error', 'ModelUnavailable', true],
    ['rate_limit_error', 'ModelUnavailable', true],
    ['timeout_error', 'ModelUnavailable', true],
    ['invalid_request_error', 'ModelRequest', false],
    ['request_too_large', 'ModelRequest', false],
    ['authentication_error', 'ModelAuth', false],
    ['permission_error', 'ModelAuth', false],
    ['billing_error', 'ModelBilling', false],
    ['not_found_error', 'ModelGone', false],
    ['an_error_of_tomorrow', 'ModelUnavailable', true],
  ])('CE3: error event %s in mid-stream', async (type, becomes, retryable) => {
    const failure = await bench.fail({ sseError: { type, message: 'Told in mid-stream.' } });
    expect(failure).toMatchObject({ type: becomes, retryable, details: { type } });
    expect(failure.message).toContain('Told in mid-stream.');
  });
});

describe('200 with something that is no message', () => {
  const raws: readonly (readonly [string, Reply])[] = [
    ['HTML', { raw: '<html><body>Please log in</body></html>' }],
    ['an empty body', { raw: '', contentType: 'text/event-stream' }],
    ['an empty body of JSON', { raw: '', contentType: 'application/json' }],
    ['error JSON', { raw: '{"type":"error","error":{"type":"api_error","message":"no"}}' }],
    ['no body at all', { raw: '', status: 204 }],
    ['other JSON', { raw: '{"object":"chat.completion","choices":[]}' }],
    [
      'an event stream of another API',
      { raw: 'event: message_start\ndata: {"type":"message_start"}\n\n' },
    ],
    [
      'a message without a stop reason',
      {
        raw: [
          'event: message_start\ndata: {"type":"message_start","message":{"type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}',
          'event: message_stop\ndata: {"type":"message_stop"}',
          '',
        ].join('\n\n'),
      },
    ],
    [
      'events in a shape that the SDK stumbles over',
      {
        raw: [
          'event: message_start\ndata: {"type":"message_start","message":{"type":"message"}}',
          'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
          '',
        ].join('\n\n'),
      },
    ],
  ];

  it.each(raws)('%s', async (_title, reply) => {
    const failure = await bench.fail(reply);
    expect(failure.type).toMatch(/^(?:ModelProtocol|ModelUnavailable)$/);
    expect(failure.retryable).toBe(true);
    expect(failure.message).not.toContain('log in');
  });

  it.each(raws.filter(([title]) => /HTML|empty|error/.test(title)))(
    'finding L10: %s is no call, but may have been billed as much as the request allows',
    async (_title, reply) => {
      const { usage } = (await bench.fail(reply, { model: 'claude-sonnet-5-5' })).details;
      expect(usage).toMatchObject({ calls: 0, cost_micro_usd: 0, unreported_calls: 1 });
      expect(usage?.unreported_tokens).toBeGreaterThan(1_000);
      expect(usage?.unreported_cost_micro_usd).toBeGreaterThan(0);
    },
  );

  it.each(raws.filter(([title]) => !title.includes('another API')))(
    '%s is a ModelProtocol failure',
    async (_title, reply) => {
      const failure = await bench.fail(reply);
      expect(failure.type).toBe('ModelProtocol');
      expect(failure.message).toContain('ANTHROPIC_BASE_URL');
    },
  );
});
