import type Anthropic from '@anthropic-ai/sdk';
import { readMessagesRequest, type MessagesRequest } from '../../../rehearsal/messages-api.ts';
import { createPromptCache } from '../../../rehearsal/replies/accounting.ts';
import type { PromptCache } from '../../../rehearsal/replies/accounting.ts';
import { paramsFor, startRig } from './support.ts';
import type { Rig } from './support.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.reset());
afterAll(() => rig.server.close());

type Params = Anthropic.MessageCreateParamsNonStreaming;

const cached = { cache_control: { type: 'ephemeral' as const } };
const shared = { type: 'text' as const, text: 'shared '.repeat(700), ...cached };

const usageOf = async (params: Params): Promise<[number, number, number]> => {
  const { usage } = await rig.client.messages.stream(params).finalMessage();
  return [
    usage.cache_read_input_tokens ?? -1,
    usage.cache_creation_input_tokens ?? -1,
    usage.input_tokens,
  ];
};
const total = (usage: readonly number[]): number => usage.reduce((sum, tokens) => sum + tokens, 0);

test('without breakpoints everything is plain input', async () => {
  const params = paramsFor('hello', { system: 'be kind' });
  expect(await usageOf(params)).toEqual(await usageOf(params));
  expect((await usageOf(params)).slice(0, 2)).toEqual([0, 0]);
});

test('a prefix is written once and read afterwards, whatever follows it', async () => {
  const [read1, written1, input1] = await usageOf(paramsFor('first', { system: [shared] }));
  const [read2, written2, input2] = await usageOf(paramsFor('other', { system: [shared] }));
  expect(read1).toBe(0);
  expect(written1).toBeGreaterThan(800);
  expect([read2, written2]).toEqual([written1, 0]);
  expect(input2).toBe(input1);
});

test('the parts add up to what countTokens says', async () => {
  const params = paramsFor('first', { system: [shared] });
  const { input_tokens } = await rig.client.messages.countTokens({
    model: params.model,
    messages: params.messages,
    system: [shared],
  });
  expect(total(await usageOf(params))).toBe(input_tokens);
  expect(total(await usageOf(params))).toBe(input_tokens);
});

const format = (name: string): Anthropic.OutputConfig => ({
  format: {
    type: 'json_schema',
    schema: { type: 'object', properties: { [name]: { type: 'string' } } },
  },
});

test.each<[string, Partial<Params>]>([
  ['model', { model: 'claude-haiku-5-5' }],
  ['output schema', { output_config: format('b') }],
  ['tools', { tools: [{ name: 't', input_schema: { type: 'object' } }] }],
  ['system text before it', { system: [{ type: 'text', text: 'new' }, shared] }],
])('another %s misses', async (_, change) => {
  const params = paramsFor('first', { system: [shared], output_config: format('a') });
  await usageOf(params);
  const [read, written] = await usageOf({ ...params, ...change });
  expect(read).toBe(0);
  expect(written).toBeGreaterThan(800);
});

test('a conversation whose breakpoint moves on reads what it wrote before', async () => {
  const question = { type: 'text' as const, text: 'question '.repeat(500) };
  const first = paramsFor([{ ...question, ...cached }]);
  const [, written] = await usageOf(first);
  const second = {
    ...first,
    messages: [
      { role: 'user' as const, content: [question] },
      { role: 'assistant' as const, content: 'answer' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'next', ...cached }] },
    ],
  };
  const [read, more] = await usageOf(second);
  expect(read).toBe(written);
  expect(more).toBeGreaterThan(0);
});

test('an hour’s lifetime is counted apart', async () => {
  const system = [{ ...shared, cache_control: { type: 'ephemeral' as const, ttl: '1h' as const } }];
  const { usage } = await rig.client.messages.create(paramsFor('first', { system }));
  expect(usage.cache_creation).toEqual({
    ephemeral_5m_input_tokens: 0,
    ephemeral_1h_input_tokens: usage.cache_creation_input_tokens,
  });
});

/** A request with one cached system block of so many tokens. */
const requestOf = (tokens: number, ttl?: '1h'): MessagesRequest => {
  const text = 'word'.repeat(tokens);
  const cache_control = { type: 'ephemeral', ...(ttl && { ttl }) };
  const system = [{ type: 'text', text, cache_control }];
  const read = readMessagesRequest(
    JSON.stringify({
      model: 'm',
      max_tokens: 1,
      system,
      messages: [{ role: 'user', content: 'x' }],
    }),
    false,
  );
  if (typeof read === 'string') throw new Error(read);
  return read;
};

const readTokens = (cache: PromptCache, request: MessagesRequest): number => {
  const { usage, begin } = cache.account(request);
  begin();
  return usage.cache_read_input_tokens;
};

test('a prefix can be read when the reply of the call that wrote it has begun, and not before', () => {
  const cache = createPromptCache();
  const request = requestOf(2_000);
  const first = cache.account(request);
  expect(cache.account(request).usage.cache_read_input_tokens).toBe(0);
  first.begin();
  expect(cache.account(request).usage.cache_read_input_tokens).toBeGreaterThan(2_000);
});

test('a prefix lives for five minutes after its last reading, or for an hour', () => {
  let nowMs = 0;
  const cache = createPromptCache(() => nowMs);
  const [usual, long] = [requestOf(2_000), requestOf(3_000, '1h')];
  expect([readTokens(cache, usual), readTokens(cache, long)]).toEqual([0, 0]);
  for (nowMs of [290_000, 580_000]) expect(readTokens(cache, usual)).toBeGreaterThan(0);
  nowMs = 900_000;
  expect(readTokens(cache, usual)).toBe(0);
  expect(readTokens(cache, long)).toBeGreaterThan(0);
  nowMs = 5_000_000;
  expect(readTokens(cache, long)).toBe(0);
});

test('a prefix below 1,024 tokens is not kept', () => {
  const cache = createPromptCache();
  for (const _ of [1, 2]) expect(readTokens(cache, requestOf(1_000))).toBe(0);
  expect(cache.account(requestOf(1_000)).usage.cache_creation_input_tokens).toBe(0);
});

test('a fifth breakpoint is refused, as the API does', async () => {
  const blocks = Array.from({ length: 5 }, () => ({ type: 'text' as const, text: 'x', ...cached }));
  await expect(usageOf(paramsFor(blocks))).rejects.toThrow(/maximum of 4 blocks/);
  expect(await usageOf(paramsFor(blocks.slice(1)))).toHaveLength(3);
});
