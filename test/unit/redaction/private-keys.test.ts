import { createRedactor } from '../../../redaction/create-redactor.ts';
import { mayHoldSecret } from '../../../redaction/create-redactor.ts';
import { redactAll } from '../../architecture/read-pills.ts';
import { planted } from '../../support/planted.ts';

const redactor = createRedactor({ secrets: [] });
const redact = (text: string): string => redactor.redactText(text, 'test');

const keyLines = planted.privateKey.split('\n');
const body = keyLines.slice(1, -1);

/** Finds lines of the key of which either end is shown. */
const shownOf = (text: string): string[] =>
  body.filter((line) => text.includes(line.slice(0, 12)) || text.includes(line.slice(-12)));

type Show = (line: string, at: number) => string;
const wayTo = (sign: (at: number) => string): Show => {
  return (line, at) => `deploy/k-2.pem${sign(at)}${at + 1}${sign(at)}${line}`;
};

/** Ways in which programs show the lines of a file. */
const ways: Readonly<Record<string, Show>> = {
  'without a prefix': (line) => line,
  'with numbers': (line, at) => `${String(at + 8).padStart(5)}\t${line}`,
  'as removed lines of a patch': (line) => `-${line}`,
  'as added lines of a patch': (line) => `+${line}`,
  'as lines of a patch between others': (line) => ` ${line}`,
  'as a patch that changes what is inside': (line, at) => `${' -+'.charAt(at % 3)}${line}`,
  'as a patch with numbers': (line, at) => `${String(at + 8).padStart(5)}\t${' -+'[at % 3]}${line}`,
  'in a quotation': (line) => `> ${line}`,
  'in a comment': (line) => `# ${line}`,
  'by grep, with the name': (line) => `deploy/my key.pem:${line}`,
  'by grep, with name and number': wayTo(() => ':'),
  'by grep, around its first line': wayTo((at) => (at === 0 ? ':' : '-')),
  'by grep, around another line': wayTo((at) => (at === 4 ? ':' : '-')),
  'by grep, with a path like Base64': (line) => `secrets/production/tls:${line}`,
  'by grep, around it, with such a path': (line) => `/run/secrets/deploykey-${line}`,
  'in the log of a service': (line) => `paymentprocessor  | ${line}`,
  'in a log': (line, at) => `2026-11-27T17:48:1${at}.123Z web_1  | ${line}`,
  'as strings of a list': (line) => `  "${line}\\n",`,
  'as strings of a list, without line breaks': (line) => `\t\t'${line}',`,
  'as strings of a list with a name': (line, at) =>
    `${at === 0 ? 'const key = [' : '  '}"${line}",`,
  'as strings that are joined': (line, at) => `${at === 0 ? 'key = ' : '      '}'${line}\\n' +`,
  'as strings with the sign before': (line, at) => `      ${at === 0 ? '' : '. '}"${line}"`,
  'as strings of a list in a patch': (line, at) => `+${at === 0 ? 'keys: [' : '  '}"${line}\\n",`,
  'as strings of a list, by grep': (line, at) =>
    `src/key.ts${at === 0 ? ':1:const key = [' : `-${at + 1}-  `}"${line}\\r\\n",`,
};

/** Parts of a text that shows a key, and what follows it. */
const parts: Readonly<Record<string, (text: string) => string>> = {
  whole: (text) => text,
  'without its first lines': (text) => text.slice(text.indexOf(body[2] ?? '')),
  'from within a line': (text) => text.slice(text.indexOf(body[2] ?? '') + 58),
  'in a part of JSON': (text) => JSON.stringify(text).slice(0, -1),
  'without its first lines, in a part of JSON': (text) =>
    JSON.stringify(text.slice(text.indexOf(body[2] ?? ''))).slice(0, -1),
};

const shown = Object.entries(ways).flatMap(([way, show]) =>
  Object.entries(parts).map(([part, take]): [string, string, string] => {
    return [way, part, take(`${keyLines.map(show).join('\n')}\nWhat follows, stays.`)];
  }),
);

it.each(shown)('SR2: a private key that is shown %s, %s', (_way, _part, text) => {
  expect(shownOf(text)).not.toEqual([]);
  const redacted = redact(text);
  expect(shownOf(redacted)).toEqual([]);
  expect(redacted).toContain('What follows, stays.');
  expect(mayHoldSecret(text)).toBe(true);
});

it.each(Object.entries(ways))('SR2: a private key that is shown %s and cut off', (_way, show) => {
  const text = keyLines.map(show).join('\n');
  expect(shownOf(redact(text.slice(0, text.indexOf(body[5] ?? '') + 30)))).toEqual([]);
});

it.each(Object.entries(ways))(
  'SR7: a private key that is shown %s is open to its end',
  (_way, show) => {
    const text = `See:\n${keyLines.map(show).join('\n')}`;
    const begin = text.indexOf('-----BEGIN');
    for (let at = begin + 40; at < text.indexOf('-----END'); at += 1) {
      expect(redactor.findOpen(text.slice(0, at))).toBe(begin);
    }
    const after = `${text}\nThat is all.`;
    expect(redactor.findOpen(after)).toBe(after.length);
  },
);

it('a key with an encrypted body and a prefix is found with its fields', () => {
  const fields = ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0011', ''];
  const lines = [keyLines[0] ?? '', ...fields, ...keyLines.slice(1)];
  for (const show of Object.values(ways)) {
    expect(shownOf(redact(lines.map(show).join('\n')))).toEqual([]);
  }
});

it('what stands before and behind a key without its beginning stays', () => {
  const tail = keyLines.slice(3).join('\n');
  expect(redact(`A line.\n${tail}\nAnother.`)).toBe('A line.\n[redacted:privatekey]\nAnother.');
  const removed = keyLines.slice(3).map((line) => `-${line}`);
  expect(redact([' a();', ...removed, '+b();'].join('\n'))).toBe(
    ' a();\n-[redacted:privatekey]\n+b();',
  );
});

it('a key whose strings stand on one line is found with and without its beginning', () => {
  const list = JSON.stringify({ key: keyLines }).replaceAll('","', '", "');
  expect(redact(`const a = ${list};`)).toBe('const a = {"key":["[redacted:privatekey]"]};');
  const tail = list.slice(list.indexOf(body[2] ?? ''));
  expect(redact(`${tail}; b("c")`)).toBe('[redacted:privatekey]"]}; b("c")');
});

const mark = '[redacted:privatekey]';

it.each<[string, (line: string) => string]>([
  ['as they are', (line) => line],
  ['with their line breaks', (line) => `${line}\n`],
])(
  'SR2 SR6: a key whose lines are strings of a list, %s, is found and counted once',
  (_way, show) => {
    const counted: unknown[] = [];
    const counting = createRedactor({
      secrets: [],
      onRedacted: (...finding) => counted.push(finding),
    });
    const lines = keyLines.map(show);
    const around = { name: 'tls', pem: ['before', ...lines, 'behind', ''], pems: [1, [...lines]] };
    const marksOf = (part: readonly string[]) => [...part.slice(1).map(() => mark), show(mark)];
    const marks = marksOf(lines);
    const without = { name: 'tls', pem: ['before', ...marks, 'behind', ''], pems: [1, marks] };
    expect(counting.redactValue(around, 'test')).toEqual(without);
    expect(counted).toEqual([['privatekey', 'test', 2]]);
    expect(counting.redactText(JSON.stringify(around), 'test')).toBe(JSON.stringify(without));
    expect(counting.redactValue(without, 'test')).toBe(without);
    // Equal strings of one field have one result, but not the empty ones.
    const [head = '', ...rest] = lines;
    expect(counting.redactValue([head, 'Proc-Type: 4', '', ...rest, ''], 'test')).toEqual([
      mark,
      mark,
      '',
      ...marks.slice(1),
      '',
    ]);
    // Without its first lines or its last ones, and as a text that is a part of another JSON.
    for (const part of [lines.slice(0, 5), lines.slice(3)]) {
      expect(counting.redactValue({ pem: part }, 'test')).toEqual({ pem: marksOf(part) });
    }
    expect(
      shownOf(counting.redactText(JSON.stringify({ text: JSON.stringify(around) }), 'test')),
    ).toEqual([]);
  },
);

it('names in a list beside the first line of a key stay, and a whole key there is one', () => {
  const names = ['-----BEGIN PRIVATE KEY-----', 'authenticationTokens', 'x'.repeat(31)];
  for (const value of [names, names.toReversed(), [names, ['y'.repeat(64)]]]) {
    expect(redactor.redactValue(value, 'test')).toBe(value);
  }
  const texts = ['x'.repeat(64), planted.privateKey, 'y'.repeat(64)];
  expect(redactor.redactValue(texts, 'test')).toEqual([texts[0], mark, texts[2]]);
});

it('a secret behind the last line of a key in a list is found too', () => {
  const lines = [...keyLines.slice(0, -1), `${keyLines.at(-1)} ${planted.anthropic}`];
  expect(redactor.redactValue(lines, 'test')).toEqual([
    ...lines.slice(1).map(() => mark),
    `${mark} [redacted:anthropic]`,
  ]);
});

const longWord = 'x'.repeat(64);

it.each([
  ['a list of names in code', '["-----BEGIN PRIVATE KEY-----", "authenticationTokens"]'],
  ['a list of names on lines', '"authenticationTokens",\n  "-----END PRIVATE KEY-----",\n'],
  ['a call with a long text', 'begins("-----BEGIN PRIVATE KEY-----", `${aLongName}`)'],
  [
    'a key that code reads',
    '"-----BEGIN PRIVATE KEY-----\\n" + thisIsTheKeyThatWasReadFromItsFile',
  ],
  ['a patch of lines in Base64', `-${longWord}\n+${longWord}\n ${longWord}`],
  ['a certificate', `${longWord}\n-----END CERTIFICATE-----`],
  ['a public key', `${longWord}\n-----END PUBLIC KEY-----`],
  ['code that names the lines', 'const end = "-----END PRIVATE KEY-----"; // the last'],
  [
    'code that looks for them',
    'text.startsWith("-----BEGIN PRIVATE KEY-----")\n- somethingLongHere(a)',
  ],
  [
    'code that looks for the end',
    'somethingLongHere(a);\nif (text.includes("-----END RSA PRIVATE KEY-----"))',
  ],
  ['a list of words', '- some\n- words\n- of an\n-----END PRIVATE KEY-----'],
  ['a minified file', `a="${longWord}";b="${longWord}";c="-----END PRIVATE KEY-----"`],
])('%s is no private key', (_what, text) => expect(redact(text)).toBe(text));

it.each([
  `${longWord}\n-----END PRIVATE KEY----`.repeat(40_000),
  `${longWord}-----END PRIVATE KEY-----`.repeat(40_000),
  `${'1 '.repeat(50_000)}-----END PRIVATE KEY-----`.repeat(20),
  `${'\n-'.repeat(500_000)}-----END PRIVATE KEY-----`,
  `12:-----BEGIN PRIVATE KEY-----${'\n13:'.repeat(500_000)}!`,
  `-----BEGIN PRIVATE KEY-----${'\n        1'.repeat(200_000)}!`,
  `${'a:'.repeat(150)}-----BEGIN PRIVATE KEY-----\n`.repeat(5_000),
  `${'a:'.repeat(150)}-----END PRIVATE KEY-----`.repeat(5_000),
  `"-----BEGIN PRIVATE KEY-----${'",\n"'.repeat(300_000)}!`,
  `"-----BEGIN PRIVATE KEY-----"${' '.repeat(12_000_000)}!`,
  `"-----BEGIN PRIVATE KEY-----${String.raw`\\n"`.repeat(300_000)}!`,
  `"-----BEGIN PRIVATE KEY-----", "A: `.repeat(40_000),
  `${'\n'.repeat(99_000)}const k = "-----END PRIVATE KEY-----`.repeat(10),
  `${'", "'.repeat(20_000)}-----END PRIVATE KEY-----`.repeat(20),
])('finding T1: text %# of prefixes and last lines is read in time', (text) => {
  expect(redactAll([text], 20_000)).toEqual([]);
});
