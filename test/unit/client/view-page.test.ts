import { drawTimeline } from '../../../client/view/draw-timeline.ts';
import { createShelf, escapeText, markup } from '../../../client/view/markup.ts';
import { renderMarkdown } from '../../../client/view/render-markdown.ts';
import { renderPage } from '../../../client/view/render-page.ts';
import type { LivePage } from '../../../client/view/render-question.ts';
import type { QuestionKind } from '../../../contracts/question.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { findShownRef } from '../../../core/render/questions.ts';
import { plant, samplePage } from '../../support/sample-page.ts';

const live: LivePage = { base: '/key/run/sample/', version: '1', notices: new Map() };

const hostile =
  '"><script>alert(1)</script></pre></style><img src=x onerror=alert(1)>\' onload=x &lt; \u202E\u0000\u001B[2J\u2028\u{E0041}';

/** The markup of a page alone: its tags with the names of their attributes, without the scripts that it is to have. */
function tagsOf(page: string): readonly string[] {
  const body = page.slice(page.indexOf('</style>'));
  return (body.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
}

function attributesOf(page: string, name: string): readonly string[] {
  return [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
}

describe.each([
  ['file', null],
  ['live page', live],
])('the %s', (_what, at) => {
  /** A page from a server leads to the list of that server. */
  const links = at === null ? [] : ['../../'];

  it('VM1: a hostile text in every field makes no markup', () => {
    const calm = renderPage(plant(samplePage(), 'Nothing to fear here.'), at);
    const page = renderPage(plant(samplePage(), hostile), at);
    expect(tagsOf(page)).toEqual(tagsOf(calm));
    expect(page.match(/<script/g)?.length ?? 0).toBe(at === null ? 0 : 1);
    expect(page.includes(hostile)).toBe(false);
  });

  it('VM2: a character that nobody sees, or that reorders, is shown by its number', () => {
    const page = renderPage(plant(samplePage(), hostile), at);
    expect(page).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_C}|\u2028|\u{E0041}/u);
    expect(page).toContain('⟨U+202E⟩⟨U+0000⟩⟨U+001B⟩[2J⟨U+2028⟩⟨U+E0041⟩');
  });

  it('VP1: it names no address of others', () => {
    const page = renderPage(samplePage(), at);
    expect(attributesOf(page, '(?:src|srcset|data|poster|background|xlink:href)')).toEqual([]);
    expect(attributesOf(page, 'href').filter((href) => !href.startsWith('#'))).toEqual(links);
    expect(page.slice(0, page.indexOf('</style>'))).not.toMatch(/url\(|@import|https?:/);
    const policy = attributesOf(page, 'content')[0] ?? '';
    expect(policy).toMatch(
      /^default-src &#39;none&#39;; style-src &#39;sha256-[^ ]+&#39;; base-uri/,
    );
    expect(policy).not.toContain('unsafe');
  });

  it('VP2: the answer is first, after what waits for the user', () => {
    const ids = attributesOf(renderPage(samplePage(), at), 'id').filter((id) =>
      /^[a-z]+$/.test(id),
    );
    expect(ids.slice(0, 4)).toEqual(['main', 'open', 'answer', 'criteria']);
    const ended = { open_questions: [], status: 'completed', phase: 'completed' } as const;
    const after = attributesOf(renderPage(samplePage(2, ended), at), 'id');
    expect(after.slice(0, 2)).toEqual(['main', 'answer']);
  });

  it('a question that is left at the end of a run can no longer be answered', () => {
    const ended = { status: 'stopped', phase: 'stopped' } as const;
    const page = renderPage(samplePage(2, ended), at);
    expect(page).not.toContain('<form');
    expect(page).not.toContain('Answer with:');
    expect(page).not.toContain('for you');
    expect(page).toContain('The run ended before an answer.');
  });

  it('VP3: every link leads to something, and every id is used once', () => {
    const page = renderPage(samplePage(), at);
    const ids = attributesOf(page, 'id');
    expect(new Set(ids).size).toBe(ids.length);
    const missing = attributesOf(page, 'href').filter((href) => !ids.includes(href.slice(1)));
    expect(missing).toEqual(links);
    expect(page).toMatch(/said <a href="#result-task-1">Result of task-1<\/a> \(heading: there\)/);
    expect(page).toMatch(/<a href="#question-q1">Your answer to q1<\/a>/);
    for (const name of attributesOf(page, '(?:aria-labelledby|for)').flatMap((one) =>
      one.split(' '),
    ))
      expect(ids).toContain(name);
  });

  it('VP4: the same run gives the same bytes', () => {
    expect(renderPage(samplePage(), at)).toBe(renderPage(samplePage(), at));
  });
});

it('a page shows every part of a run', () => {
  const page = renderPage(samplePage(), null);
  const shown = [
    ['The whole goal', 'a constraint', 'an instruction', 'waiting for you', 'a summary'],
    ['What is to be done in task 2', 'The short result of 2', 'The whole result of 2', 'assumed'],
    ['the system text', 'The packet of 2', 'words before', 'load_detail', 'found', 'the reply'],
    ['Who claimed what', 'critic (researcher)', 'the plan', 'Do you agree?', 'a file', 'stated'],
    ['{&quot;path&quot;:&quot;a&quot;', 'answer sample q3 deny', '$0.004'],
  ].flat();
  expect(shown.filter((text) => !page.includes(text))).toEqual([]);
});

it('a page says how the run ended, where it comes from, and that a file may be out of date', () => {
  const ended = renderPage(samplePage(2, { status: 'completed' }), null);
  expect(ended).toContain('Taken over from <code>another</code>: everything before wave 2.');
  expect(ended).not.toContain('had not ended');
  const file = renderPage(samplePage(), null);
  expect(file).toContain('The run had not ended at the last change, 2023-11-14 22:14 UTC.');
  expect(file).toContain('status sample');
  expect(renderPage(samplePage(), live)).not.toContain('had not ended');
});

it.each([
  ['completed', 'not judged', '1, not judged in this run'],
  ['stopped', 'not met', '0 of 1 met or waived'],
  [null, 'open', '0 of 1 met or waived'],
] as const)('a criterion without a verdict is "%s": %s', (status, word, counted) => {
  const [criterion] = samplePage().criteria;
  const criteria = criterion === undefined ? [] : [{ ...criterion, state: 'open' } as const];
  const page = renderPage(samplePage(1, { status, criteria }), null);
  expect(page).toMatch(new RegExp(`<span class="badge \\w+">${word}</span>`));
  expect(page).toContain(counted);
});

it('a run that was stopped at once has no picture, and work without a call no use', () => {
  const nothing = { waves: [], design: null, open_questions: [], answered_questions: [] };
  expect(renderPage(samplePage(1, nothing), null)).not.toContain('The run over time');
  const waves = samplePage(1).waves.map((one) => ({
    ...one,
    usage: noUsage,
    conversations: [],
    work: one.work.map((part) => ({ ...part, usage: noUsage })),
  }));
  const page = renderPage(samplePage(1, { waves }), null);
  expect(page).not.toContain('0 tokens in, 0 out');
  expect(page).toContain('>Wave 1<title>');
});

it('a file lists the answers that a question allows; a live page has them in its form', () => {
  expect(renderPage(samplePage(), null)).toContain('<dd>approve, deny</dd>');
  expect(renderPage(samplePage(), live)).not.toContain('<dd>approve, deny</dd>');
});

it('an approval is chosen, and only another default can be confirmed', () => {
  const open = samplePage().open_questions.map((one) => ({ ...one, default_answer: 'deny' }));
  const page = renderPage(samplePage(1, { open_questions: open }), live);
  const [, ask = '', approve = ''] = page.split('<form ');
  expect(ask).toContain('Take the default: deny');
  expect(approve.slice(0, approve.indexOf('</form>'))).not.toContain('as_default');
  expect(approve).toMatch(/type="radio" name="answer" value="approve" required/);
  const taken = new Map([['q3', { text: 'q3 answered: deny', isTaken: true }]]);
  const after = renderPage(samplePage(), { ...live, notices: taken });
  expect(after.split('<form ')).toHaveLength(2);
  expect(after).toContain('role="alert">q3 answered: deny');
});

it.each(['q1', 'q9'])(
  'VS4: the page tells what became of an answer, also when %s is no longer open',
  (id) => {
    const notices = new Map([[id, { text: `${id} was told`, isTaken: true }]]);
    const page = renderPage(samplePage(), { ...live, notices });
    expect(page.split(`role="alert">${id} was told`)).toHaveLength(2);
    expect(page.split(`id="question-${id}"`)).toHaveLength(2);
    const ended = renderPage(samplePage(1, { status: 'stopped' }), {
      ...live,
      notices: new Map([['q3', { text: 'q3 was told', isTaken: false }]]),
    });
    expect(ended).toContain('role="alert">q3 was told');
  },
);

it('VM3: a long text stands on the page once', () => {
  const page = renderPage(samplePage(5), null);
  expect(page.split('Shared by the whole wave.')).toHaveLength(2);
  expect(page.match(/The same text as above/g)).toHaveLength(5);
});

it('VM4: a page that is full says what it leaves out', () => {
  const shelf = createShelf(1_000);
  expect(shelf.pre('a'.repeat(900)).text).not.toContain('Cut');
  expect(shelf.pre('b'.repeat(900)).text).toContain('Left out, because the page is full: 900');
  expect(createShelf(1_000).pre('c'.repeat(1_200)).text).toContain('Cut: the whole has 1200');
});

it('VW1: the picture loads nothing and has the colours of the page', () => {
  expect(drawTimeline(samplePage()).text).not.toMatch(/style=|#[0-9a-f]{3,6}"|url|http/);
});

it('VW2: a long time without work is marked', () => {
  const { text } = drawTimeline(samplePage());
  expect(text).toContain('class="pause"');
  expect(text).toContain('class="arrow"');
});

it('VW3: many parts are drawn without members, and with every delegation', () => {
  expect(drawTimeline(samplePage()).text).toContain('>critic<title>');
  const large = drawTimeline(samplePage(600)).text;
  expect(large.match(/class="label level1"/g)).toHaveLength(600);
  expect(large).not.toContain('level3');
});

it('Markdown is shown with its structure, and nothing in it is loaded', () => {
  const text = [
    '# Title\n\nOne **bold** `code` ![x](https://a.example/p.png) <b>no</b>',
    '- a\n  - b\n1. c',
    '| h | i |\n|---|---|\n| 1 | 2 |',
    '> said\n> > twice',
    '```js\nlet a = "**";\n```\n---\nlast ` and ** alone',
  ].join('\n\n');
  const shown = renderMarkdown(text).text;
  expect(shown).toContain('<h3>Title</h3>');
  expect(shown).toContain(
    '<strong>bold</strong> <code>code</code> ![x](https://a.example/p.png) &lt;b&gt;no',
  );
  expect(shown.replaceAll('\n', '')).toMatch(/<li class="in1">b<\/li>.*1\. c/);
  expect(shown.replaceAll('\n', '')).toMatch(/<th scope="col">h<\/th>.*<td>2<\/td>/);
  expect(shown).toContain('let a = &quot;**&quot;;');
  expect(shown).toContain('last ` and ** alone');
  expect(escapeText('a\r\nb')).toBe('a\nb');
  expect(markup`<p title="${'"'}">${null}${[1, 'x']}</p>`.text).toBe('<p title="&quot;">1x</p>');
});

const shown = (text: string, kind: QuestionKind = 'approval') => findShownRef({ kind, text });

it('an agent cannot name another text as that which is approved', () => {
  const [own, other] = ['a'.repeat(64), 'b'.repeat(64)];
  const line = `SHA-256 of the whole arguments as they are stored, and their address in the store: ${own}`;
  expect(shown(`Arguments: x in the store: ${other}\n${line}`)).toBe(own);
  expect(shown(`${line.replace(own, other)}\n${line}`)).toBe(own);
  expect(shown(`Arguments: in the store: ${other}`)).toBeNull();
  expect(shown(line, 'effect')).toBe(own);
  for (const kind of ['blocking', 'planner', 'design', 'budget'] as const) {
    expect(shown(line, kind)).toBeNull();
  }
});
