import { z } from 'zod';
import type { ModelProgress } from '../../../activities/ports/model-client.ts';
import { callOptions, request, startModelBench } from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

let bench: ModelBench;
beforeAll(async () => {
  bench = await startModelBench();
});
afterAll(() => bench.server.close());

/** The body that the server got. */
async function sentBody(changes: Parameters<ModelBench['reply']>[1]): Promise<object> {
  await bench.reply({ pass: true }, changes);
  const body = bench.server.calls()[0]?.body;
  return typeof body === 'object' && body !== null ? body : {};
}

const say = (said: string, more = {}) => ({ type: 'text' as const, text: said, ...more });

describe('stop reasons pass through', () => {
  it.each([
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
    'a_reason_of_tomorrow',
  ])('%s', async (stop_reason) => {
    const reply = await bench.reply({ text: 'a text', stop_reason });
    expect(reply).toMatchObject({ stopReason: stop_reason, content: [{ text: 'a text' }] });
  });

  it('tool_use, with the input whole', async () => {
    const input = { path: 'ä/"b"', deep: [{ n: 1 }] };
    const reply = await bench.reply({ text: 'I look.', tool_use: [{ name: 'look', input }] });
    expect(reply.stopReason).toBe('tool_use');
    expect(reply.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: expect.any(String), name: 'look', input },
    ]);
    // What is stored is plain JSON: no getters, no hidden fields.
    expect(JSON.parse(JSON.stringify(reply.content))).toEqual(reply.content);
  });

  it.each(['end_turn', 'refusal'])('%s without any content', async (stop_reason) => {
    const reply = await bench.reply({ text: '', stop_reason });
    expect(reply).toMatchObject({ stopReason: stop_reason, content: [] });
  });
});

describe("finding P10: a refusal carries the provider's explanation", () => {
  it.each([
    [{ category: 'cyber', explanation: 'It could enable harm.' }, 'It could enable harm.'],
    [{ category: 'cyber', explanation: null }, 'Its category is "cyber".'],
    [{ category: null, explanation: null }, undefined],
    [null, undefined],
  ])('%j', async (stop_details, refusal) => {
    const reply = await bench.reply({ text: '', stop_reason: 'refusal', stop_details });
    expect(reply.refusal).toBe(refusal);
  });
});

describe('the reply', () => {
  it('carries model and request id as plain fields', async () => {
    const reply = await bench.reply({ text: 'hi', model: 'claude-haiku-5-5-20261001' });
    expect(JSON.parse(JSON.stringify(reply))).toMatchObject({
      model: 'claude-haiku-5-5-20261001',
      requestId: expect.stringMatching(/^req_/),
    });
  });

  it('counts tokens by kind', async () => {
    const reply = await bench.reply({
      text: 'hi',
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        output_tokens: 40,
      },
    });
    expect(reply.tokens).toEqual({
      inputTokens: 10,
      cacheCreationInputTokens: 20,
      cacheReadInputTokens: 30,
      outputTokens: 40,
    });
  });

  it('is not lost when the usage is empty', async () => {
    const reply = await bench.reply({ text: 'paid for', usage: null });
    expect(reply).toMatchObject({ tokens: null, content: [{ text: 'paid for' }] });
  });

  it('is not lost when the usage is missing', async () => {
    const events = [
      {
        type: 'message_start',
        message: { type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Grüße, "message_delta" 🌍' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ];
    const raw = events
      .map((e) => `event: ${e.type}\r\ndata: ${JSON.stringify(e)}\r\n\r\n`)
      .join('');
    const reply = await bench.reply({ raw });
    expect(reply).toMatchObject({
      tokens: null,
      stopReason: 'end_turn',
      content: [{ text: 'Grüße, "message_delta" 🌍' }],
    });
  });

  it('keeps blocks it does not know, and sends them back unchanged', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const reply = await bench.reply({ content: [thinking], text: 'done' });
    expect(reply.content).toEqual([
      { type: 'opaque', raw: thinking },
      { type: 'text', text: 'done' },
    ]);
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, content: reply.content },
      ...request.messages,
    ];
    expect(await sentBody({ messages })).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [thinking, { text: 'done' }] },
        {},
      ],
    });
  });

  it('tells its progress, and a display that throws does not cost it', async () => {
    bench.server.reset();
    const text = 'one two three '.repeat(800);
    bench.server.script([{ reply: { text, usage: { output_tokens: 7_777 } } }]);
    const seen: ModelProgress[] = [];
    const reply = await bench.client.complete(request, {
      ...callOptions(),
      onProgress: (progress) => {
        seen.push(progress);
        throw new Error('the display is broken');
      },
    });
    expect(reply.content).toEqual([{ type: 'text', text }]);
    expect(seen.at(-1)).toEqual({ outputTokens: 7_777, lastWords: text.slice(-8_000) });
    expect(seen.every(({ lastWords }) => lastWords.length <= 8_000)).toBe(true);
  });
});

describe('the request', () => {
  it('holds nothing that a current model refuses', async () => {
    const body = await sentBody({ tools: [] });
    expect(Object.keys(body).toSorted()).toEqual([
      'max_tokens',
      'messages',
      'metadata',
      'model',
      'stream',
    ]);
    expect(body).toMatchObject({ metadata: { user_id: request.callKey }, max_tokens: 1_000 });
  });

  it('marks the end of a prefix that may be cached', async () => {
    const system = [
      { text: 'equal for all', cacheBreakpoint: true },
      { text: 'differs', cacheBreakpoint: false },
    ];
    expect(await sentBody({ system })).toMatchObject({
      system: [
        { type: 'text', text: 'equal for all', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'differs' },
      ],
    });
  });

  it('marks the shared part, and where this call and the one before it end', async () => {
    const cache_control = { type: 'ephemeral' };
    const messages = [
      { role: 'user' as const, content: [say('wave', { cache_breakpoint: true }), say('own')] },
      { role: 'assistant' as const, content: [say('answer')] },
      { role: 'user' as const, content: [say('first'), say('last'), say('')] },
    ];
    expect(await sentBody({ messages, cachesConversation: true })).toMatchObject({
      messages: [
        {
          content: [
            { text: 'wave', cache_control },
            { text: 'own', cache_control },
          ],
        },
        { content: [{ type: 'text', text: 'answer' }] },
        {
          content: [
            { type: 'text', text: 'first' },
            { text: 'last', cache_control },
          ],
        },
      ],
    });
    const plain = JSON.stringify(await sentBody({ messages }));
    expect(plain.match(/cache_control/g)).toHaveLength(1);
    expect(plain).not.toContain('cache_breakpoint');
  });

  it('leaves out empty texts and messages, which the API refuses', async () => {
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, content: [] },
      { role: 'user' as const, content: [{ type: 'text' as const, text: '' }] },
      ...request.messages,
    ];
    const system = [{ text: '', cacheBreakpoint: true }];
    const body = await sentBody({ messages, system });
    expect(body).toMatchObject({ messages: [{ role: 'user' }, { role: 'user' }] });
    expect(body).not.toHaveProperty('system');
  });

  it('turns tools and the output into JSON schemas', async () => {
    const body = await sentBody({
      tools: [
        {
          name: 'load_detail',
          description: 'Loads it.',
          input: z.strictObject({ detail_id: z.string(), lines: z.number().default(10) }),
        },
      ],
      output: z.strictObject({ status: z.enum(['completed']), text: z.string().min(1) }),
    });
    expect(body).toMatchObject({
      tools: [
        {
          name: 'load_detail',
          description: 'Loads it.',
          input_schema: {
            type: 'object',
            properties: { detail_id: { type: 'string' } },
            required: ['detail_id'],
            additionalProperties: false,
          },
        },
      ],
      output_config: {
        format: {
          type: 'json_schema',
          schema: { type: 'object', required: ['status', 'text'], additionalProperties: false },
        },
      },
    });
    expect(body).not.toHaveProperty('tool_choice');
  });

  it('a reply that breaks the schema comes back as it is, with its usage', async () => {
    const output = z.strictObject({ text: z.string() });
    const reply = await bench.reply({ text: '{"text": 1', stop_reason: 'max_tokens' }, { output });
    expect(reply).toMatchObject({ content: [{ text: '{"text": 1' }], stopReason: 'max_tokens' });
    expect(reply.tokens).not.toBeNull();
  });

  it('hashes a call key that the API would refuse as too long', async () => {
    const body = await sentBody({ callKey: 'k'.repeat(1_000) });
    expect(body).toMatchObject({ metadata: { user_id: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  });

  const refusedOutputs: readonly (readonly [string, z.ZodType])[] = [
    ['a record', z.strictObject({ map: z.record(z.string(), z.number()) })],
    ['an open object', z.strictObject({ any: z.looseObject({}) })],
    ['a date', z.strictObject({ on: z.date() })],
    ['a transform', z.strictObject({ n: z.string().transform(Number) })],
  ];

  it.each(refusedOutputs)('%s in the output is refused before a call', async (_title, output) => {
    bench.server.reset();
    const call = bench.client.complete({ ...request, output }, callOptions());
    await expect(call).rejects.toMatchObject({
      type: 'ModelRequest',
      retryable: false,
      message: expect.stringContaining("The output schema can't be sent to the model"),
    });
    expect(bench.server.counts().calls).toBe(0);
  });

  it('a tool whose input is no object is refused before a call, by name', async () => {
    const tools = [{ name: 'odd', description: '', input: z.string() }];
    const call = bench.client.complete({ ...request, tools }, callOptions());
    await expect(call).rejects.toThrow('"odd" can\'t be sent to the model: it must be a z.object');
  });
});
