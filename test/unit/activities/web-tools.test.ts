import { createFetchPage, webResearch } from '../../../activities/tools/registry/web-tools.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { DeliveredAnswer, NewsItem } from '../../../contracts/messages.ts';
import type { TurnInput, TurnReply } from '../../../contracts/model-turn.ts';
import { registryOf } from '../../support/registry-of.ts';
import { callTools } from '../../support/scripted-model.ts';
import { agents, createBench, runIn, type BenchOptions } from './bench.ts';

const page = (name: string): string => `https://docs.example/${name}`;

interface Call {
  readonly name: string;
  readonly input: object;
}

const fetches = (...names: readonly string[]): Call[] =>
  names.map((name) => ({ name: 'fetch_page', input: { url: page(name) } }));

const researches = (question: string, ...names: readonly string[]): Call => ({
  name: 'web_research',
  input: { question, urls: names.map(page) },
});

/** A conversation of an agent with both tools, whose turns make these calls. */
async function createTalk(
  turns: readonly (readonly Call[])[],
  record: BenchOptions['record'] = {},
) {
  const fetchPage = createFetchPage({
    fetch: async (url) => ({
      url,
      title: 'A page',
      text_md: `Read ${page('on-a-page')}.`,
      bytes: 9,
    }),
  });
  const named = turns.map((calls, turn) =>
    calls.map((call, at) => ({ id: `t${turn}-${at}`, ...call })),
  );
  const bench = await createBench({
    scripts: named.map(callTools),
    deps: { tools: createToolRegistry([fetchPage, webResearch]) },
    record,
  });
  const allowed_tools = ['fetch_page', 'web_research'];
  const granted = agents.map((agent) => ({ ...agent, allowed_tools }));
  const registry_ref = await bench.store.put(registryOf(granted));
  const reading = { record_ref: bench.record_ref, upstream: [], loads_left: 20, acts: true };
  let head: string | null = null;
  /** Takes a turn. @returns its calls that were made or may be made. */
  const turn = async (append: readonly TurnInput[]): Promise<readonly string[]> => {
    const begin = head === null ? bench.input().append : [];
    const input = bench.input({ registry_ref, reading, head, append: [...begin, ...append] });
    const result = await runIn(bench.env(), bench.activities.modelTurn, input);
    head = result.head;
    return listMade(result.reply, named.flat());
  };
  return { bench, turn };
}

function listMade(reply: TurnReply, named: readonly ({ id: string } & Call)[]): string[] {
  if (reply.type !== 'tools') throw new Error(reply.type);
  return reply.calls.flatMap((call) => {
    const isMade = 'state' in call || call.research !== undefined || call.read?.is_error === false;
    const { input = {} } = named.find(({ id }) => id === call.tool_use_id) ?? {};
    return isMade ? [Object.values(input).join(' ').replaceAll(page(''), '')] : [];
  });
}

const answered = (answer: string, over: Partial<DeliveredAnswer> = {}): TurnInput => ({
  type: 'answers',
  answers: [
    {
      question_id: 'q1',
      text: `Shall I open ${page('asked')}?`,
      answer,
      answer_ref: null,
      answered_by: 'ann',
      loop: false,
      ...over,
    },
  ],
});

const news: NewsItem[] = [
  {
    type: 'instruction',
    news_id: 1,
    instruction: `See (${page('ordered')}).`,
    criteria_waived: [],
  },
  {
    type: 'answer',
    news_id: 2,
    question_id: 'q2',
    text: `Or ${page('asked-by-another')}?`,
    answer: page('told'),
    answer_ref: null,
    answered_by: 'ann',
    delegation_id: 'other',
    changed: false,
  },
];

it('opens what people named during the wave, and nothing that an agent or a page wrote', async () => {
  const urls = ['answered', 'long', 'ordered', 'told', 'asked', 'asked-by-another', 'default', 'x'];
  const { bench, turn } = await createTalk([fetches(...urls), fetches('on-a-page', 'answered')]);
  const answer_ref = await bench.store.put(`No, ${page('long')}`);
  const made = await turn([
    answered(`Take ${page('answered')}, please`),
    answered('', { answer: null, answer_ref }),
    answered(page('default'), { answered_by: 'default' }),
    answered(page('x'), { loop: true }),
    { type: 'news', news },
  ]);
  expect(made).toEqual(['answered', 'long', 'ordered', 'told']);
  const result_ref = await bench.store.put(`Read ${page('on-a-page')}.`);
  const results = urls.map((_url, at): TurnInput => {
    return { type: 'tool_result', tool_use_id: `t0-${at}`, result_ref, is_error: false };
  });
  // What was named in an earlier turn still counts.
  expect(await turn(results)).toEqual(['answered']);
});

it('fetch_page gives a long page in parts that make up the whole', async () => {
  const text_md = `# One line\n${'ä'.repeat(100_000)}`;
  const tool = createFetchPage({
    fetch: async (url) => ({ url, title: 'T'.repeat(9_000), text_md, bytes: 9 }),
  });
  const bench = await createBench({
    deps: { tools: createToolRegistry([tool]) },
    record: { goal: `${page('long')}?q=${'a'.repeat(300)}` },
  });
  const granted = agents.map((agent) => ({ ...agent, allowed_tools: ['fetch_page'] }));
  const registry_ref = await bench.store.put(registryOf(granted));
  const load = (input: object) =>
    bench.read({ name: 'fetch_page', input: { url: page('long'), ...input } }, { registry_ref });
  const parts = await Promise.all([{}, { page: 2 }, { page: 3 }].map(load));
  const texts = parts.map(({ text }) =>
    text.slice(text.indexOf('\n\n') + 2, text.lastIndexOf('\n[')),
  );
  expect(texts.join('')).toBe(text_md);
  expect(parts.map(({ text }) => text.slice(text.lastIndexOf('\n[')))).toEqual([
    '\n[Page 1 of 3. The next one: "page":2]',
    '\n[Page 2 of 3. The next one: "page":3]',
    '\n[Page 3 of 3.]',
  ]);
  for (const { loaded_details } of parts) expect(loaded_details).toEqual([page('long')]);
  // The list of sources in history has room for 120 characters of each.
  const far = await load({ url: `${page('long')}?q=${'a'.repeat(200)}` });
  expect(far.loaded_details).toEqual([expect.stringMatching(/^https:\/\/docs\..{1,110}$/)]);
  const none = await load({ page: 4 });
  expect(none).toMatchObject({ is_error: true, loaded_details: [] });
  expect(none.text).toMatch(/it has 3 page.*Try: "page":3/);
});

it('fetch_page and web_research open the sources of an earlier search, and none of its other words', async () => {
  const { bench, turn } = await createTalk([
    [researches(`What is on ${page('composed')}?`)],
    [
      ...fetches('found', 'composed', 'mentioned'),
      researches('More?', 'found'),
      researches('More?', 'mentioned'),
    ],
  ]);
  await turn([]);
  const report = {
    question: `What is on ${page('composed')}?`,
    answer_md: `Nothing. See ${page('mentioned')}.`,
    source_refs: [{ url: page('found'), title: '', quotation: '', retrieved_at: '2026-01-01' }],
    searches: 1,
    opened: 1,
    errors: [],
  };
  const result_ref = await bench.store.put(JSON.stringify(report));
  const found = { type: 'tool_result', tool_use_id: 't0-0', result_ref, is_error: false } as const;
  expect(await turn([found])).toEqual(['found', 'More? found']);
});
