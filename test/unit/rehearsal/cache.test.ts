import type Anthropic from '@anthropic-ai/sdk';
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
const shared = { type: 'text' as const, text: 'shared '.repeat(500), ...cached };

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
  const question = { type: 'text' as const, text: 'question '.repeat(200) };
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
