import { readEvidenceSources } from '../../../activities/stages/agent-output.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import type { EvidencePlace } from '../../../contracts/agent-output.ts';
import type { Message } from '../../../contracts/transcript.ts';
import { checkEvidence, checkUnchangedPaths } from '../../../core/output/check-evidence.ts';
import { findPlaceholders } from '../../../core/output/find-placeholders.ts';
import { readMarkdown } from '../../../core/text/markdown.ts';
import { processorMs } from '../../support/processor-time.ts';

const detailed_md = [
  '# Report',
  '## 2. Prices & terms',
  'Alpha costs **5 €** a month, and `beta`',
  'costs 7 €.',
  '```sh',
  '# no heading',
  '```',
].join('\n');

const sources = { tools: ['load_detail', 'toolu_1'], answers: ['q1'], inputs: ['goal', 'brief'] };

const look = (
  kind: EvidencePlace['kind'],
  value: string,
  status: 'completed' | 'blocked' = 'completed',
) =>
  checkEvidence(
    {
      status,
      detailed_md,
      coverage: {
        criteria_met: [{ criterion_id: 'c1', evidence: 'For people.', where: { kind, value } }],
        criteria_unmet: [],
      },
    },
    sources,
  );

describe('finding W1: evidence names a place that code finds', () => {
  it.each([
    ['heading', '2. Prices & terms'],
    ['heading', '## prices and terms'.replace('and ', '')],
    ['quote', '“Alpha costs 5 € a month, and beta costs 7 €.”'],
    ['quote', 'Alpha costs 5 € … beta costs 7'],
    ['tool', 'load_detail'],
    ['tool', 'load_detail {"detail_id":"brief"}'],
    ['tool', 'toolu_1'],
    ['answer', 'q1'],
    ['input', 'brief'],
    ['file', 'a.md'],
  ] as const)('EV1, EV2: %s "%s" is found', (kind, value) => {
    expect(look(kind, value)).toEqual([]);
  });

  it.each([
    ['heading', 'Section 4', 'detailed_md has no heading "Section 4"'],
    ['heading', 'no heading', 'detailed_md has no heading'],
    ['heading', '#', 'detailed_md has no heading'],
    ['quote', 'Gamma costs 9 € a month', 'detailed_md does not hold the words'],
    ['quote', 'beta costs 7 … Alpha costs 5', 'detailed_md does not hold the words'],
    ['quote', 'costs', 'too short to be looked up'],
    ['tool', 'web_search', 'no tool call "web_search" of this conversation gave a result'],
    ['answer', 'q2', 'you were given no answer to a question "q2"'],
    ['input', 'survey', 'you were given no input "survey"'],
  ] as const)('EV3: %s "%s" is not', (kind, value, reason) => {
    const [fault] = look(kind, value);
    expect(fault?.path).toBe('coverage.criteria_met[0].where');
    expect(fault?.reason).toContain(reason);
    expect(fault?.hint).toMatch(/^Try: /);
  });

  it('EV4: an output that waits for answers is not looked at', () => {
    expect(look('heading', 'Section 4', 'blocked')).toEqual([]);
  });

  it('a conversation says what was given, answered and called', () => {
    const text = [
      '<answered_questions>[{"question_id":"q1","answered_by":"user"},{"question_id":"q2","answered_by":"default"}]</answered_questions>',
      '<upstream_results>\n# Result of survey (prices, notes), which replaces draft: A survey, whole\nSold.\n<answered_questions>[{"question_id":"q7"}]&lt;/answered_questions>\n</upstream_results>',
      '<delegation>{"required_inputs":["goal","brief"],"provided_inputs":["brief"]}</delegation>',
    ].join('\n\n');
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'text', text }] },
      {
        role: 'assistant',
        content: ['old', 'gone'].map((detail_id) => ({
          type: 'tool_use',
          id: `call-${detail_id}`,
          name: 'load_detail',
          input: { detail_id },
        })),
      },
      {
        role: 'user',
        content: ['old', 'gone'].map((id) => ({
          type: 'tool_result',
          tool_use_id: `call-${id}`,
          content: 'text',
          is_error: id === 'gone',
        })),
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<answers>[{"question_id":"q3","answered_by":"ann"}]</answers>' },
        ],
      },
    ];
    const found = readEvidenceSources(messages, createToolRegistry([loadDetail]));
    expect(found.answers).toEqual(['q1', 'q3']);
    expect(found.tools).toEqual(['load_detail', 'call-old']);
    expect(found.inputs).toEqual(
      expect.arrayContaining(['goal', 'brief', 'survey', 'prices', 'notes', 'old']),
    );
    expect(found.inputs).not.toContain('gone');
  });
});

const placesIn = (text: string) =>
  findPlaceholders(text, 'detailed_md').map(({ path, reason }) => `${path}: ${reason}`);

describe('finding W1: placeholders', () => {
  it.each([
    ['TODO', 'the whole text is a placeholder: "TODO"'],
    [
      '# Report\n\nTBD by the team.',
      'the whole text is a placeholder: "# Report TBD by the team."',
    ],
    [
      '# A\n\nThree ways to host a backup are compared.\n\n## Prices\n\n- **TODO**',
      'line 7, under "Prices": only a placeholder, "**TODO**"',
    ],
    [
      '# A\n\nThree ways to host a backup are compared.\n\nAs described above.',
      'line 5, under "A": only a placeholder, "As described above."',
    ],
    [
      '| Name | Price |\n| --- | --- |\n| Alpha | tbd |\n\nAll other prices are of this spring, in euro.',
      'line 3: only a placeholder, "tbd"',
    ],
  ])('PH1, PH4: %j', (text, reason) => {
    expect(placesIn(text)).toEqual([`detailed_md: ${reason}`]);
  });

  it('PH2: a section without a text is empty, one with a lower heading is not', () => {
    expect(
      placesIn('# A\n\n## B\n\nText of some length.\n\n## C\n\n# D\n\nText.\n\n## E\n'),
    ).toEqual([
      'detailed_md: line 7: the section "C" is empty',
      'detailed_md: line 13: the section "E" is empty',
    ]);
  });

  it.each([
    'The scanner counts comments that say TODO and lists them by file and by age.',
    '# Tools\n\n```ts\n// TODO\n```\n\nThe words `TODO` mark what is open in this code base of ours.',
    '# Marks\n\nThese are the marks that we look for in the code of the project:\n\n- `TODO`\n- `FIXME`',
    '# A\n\n```\n# no heading\n# neither\n```',
    'See above for prices of all three, and below for the terms they come with in the end.',
  ])('PH3: %j is left alone', (text) => {
    expect(placesIn(text)).toEqual([]);
  });

  it('takes time that grows with the text', () => {
    const long = `${'# \n| TODO '.repeat(10_000)}\n${' '.repeat(100_000)}`;
    expect(processorMs(() => expect(placesIn(long)).toHaveLength(5))).toBeLessThan(10_000);
  });
});

const levels = (text: string) => readMarkdown(text).map(({ level }) => level);

it('ML1: a code block holds no headings, and goes to the end when nothing closes it', () => {
  expect(levels('# a\n```\n# b\n```\n## c')).toEqual([1, 0, 0, 0, 2]);
  expect(levels('~~~\n# a\n```\n# b')).toEqual([0, 0, 0, 0]);
});

const unchanged = (value: string) => ({
  criteria_met: [
    {
      criterion_id: 'c1',
      evidence: 'No test differs.',
      where: { kind: 'unchanged' as const, value },
    },
  ],
});

it('EV5: a path is unchanged when no changed file is it or is below it', () => {
  const touched = ['src/a.js', 'tests.md'];
  for (const path of ['test', 'test/', './test', 'src/a', 'a.js']) {
    expect(checkUnchangedPaths(unchanged(path), touched)).toEqual([]);
  }
  for (const path of ['src', './src/', 'src/a.js', '.', '']) {
    expect(checkUnchangedPaths(unchanged(path), touched)).toMatchObject([
      { path: 'coverage.criteria_met[0].where', reason: expect.stringContaining('src/a.js') },
    ]);
  }
  expect(checkUnchangedPaths(unchanged('test'), null)).toMatchObject([
    { reason: expect.stringContaining('no copy') },
  ]);
});
