import { array, assert, constantFrom, jsonValue, oneof, property, string } from 'fast-check';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import type { Redactor } from '../../../redaction/create-redactor.ts';
import { awsSetting, planted, plantedPieces } from '../../support/planted.ts';

function create(onRedacted?: (rule: string, sink: string, count: number) => void): Redactor {
  return createRedactor({ secrets: [planted.own], onRedacted });
}

const redact = (text: string): string => create().redactText(text, 'test');

const leaks = (text: string): string[] => plantedPieces.filter((piece) => text.includes(piece));

const encryptedKey = planted.privateKey.replace(
  '-----\n',
  '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n',
);

const texts: Readonly<Record<string, string>> = {
  github: `use ${planted.github}, please`,
  'github between quotes': `"${planted.github}"`,
  'aws, id': `id ${planted.awsKeyId}.`,
  'aws, secret half': `[default]\n${awsSetting}\nregion = eu`,
  'aws, in a part of JSON': JSON.stringify(awsSetting).slice(0, -1),
  'aws, in a part of JSON in JSON': JSON.stringify(JSON.stringify(awsSetting)).slice(0, -2),
  anthropic: planted.anthropic,
  'npm, twice in a line': `_authToken=${planted.anthropic} _authToken = "${planted.github}"`,
  privatekey: `before\n${planted.privateKey}\nafter`,
  'privatekey, escaped': JSON.stringify(planted.privateKey),
  'privatekey, cut off': planted.privateKey.slice(0, 400),
  'privatekey, encrypted': encryptedKey,
  'privatekey, encrypted and escaped': JSON.stringify(encryptedKey),
  'privatekey, encrypted, on one line': encryptedKey.replaceAll('\n', ' '),
  own: `curl -H 'x-api-key: ${planted.own}'`,
};

it.each(Object.entries(texts))('SR2: nothing is left of %s', (_name, text) => {
  expect(leaks(text)).not.toEqual([]);
  const redacted = redact(text);
  expect(redacted).toContain('[redacted:');
  expect(leaks(redacted)).toEqual([]);
});

it.each([
  ['cut off', planted.anthropic.slice(0, 24)],
  ['one character too long', `${planted.github}x`],
  ['one character too short', planted.github.slice(0, -1)],
  ['in JSON', JSON.stringify({ note: `token ${planted.anthropic.slice(0, 40)}` })],
])('finding L6: a key that is %s is masked and counted as a near form', (_what, text) => {
  const counts: string[] = [];
  const redacted = create((rule) => counts.push(rule)).redactText(text, 'test');
  expect(redacted).toMatch(/\[redacted:near-form\]/);
  expect(redacted).not.toContain(text.slice(-16, -8));
  expect(counts).toEqual(['near-form']);
});

it.each(['npm_config_user_agent', 'hf_short', 'the sk-learn package', 'AKIA is a prefix'])(
  'finding L6: %s is no key',
  (text) => expect(redact(text)).toBe(text),
);

it('SR2: what stands around a secret stays', () => {
  expect(redact(texts['github'] ?? '')).toBe('use [redacted:github], please');
  expect(redact(texts['privatekey'] ?? '')).toBe('before\n[redacted:privatekey]\nafter');
  expect(redact('-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----')).toContain('BEGIN');
  const cut = `${planted.privateKey.slice(0, 430)}\n[Cut: 430 bytes are shown.]`;
  expect(redact(cut)).toBe('[redacted:privatekey]\n[Cut: 430 bytes are shown.]');
});

const spelled = (before: string): readonly string[] => [
  Buffer.from(`${before}${planted.own}:rest`).toString('base64'),
  Buffer.from(`${before}${planted.own}?>~`).toString('base64url'),
  Buffer.from(`${before}${planted.own}`).toString('hex'),
];

it('SR2: own secrets are found encoded, wherever in a longer text they begin', () => {
  for (const text of ['', 'u', 'us', 'user:'].flatMap(spelled)) {
    expect(redact(text)).toContain('[redacted:own-secret]');
  }
  const odd = 'pä"ss wörd/100%\\';
  const redactor = createRedactor({ secrets: [odd] });
  for (const text of [odd, JSON.stringify({ odd }), JSON.stringify(JSON.stringify(odd))]) {
    expect(redactor.redactText(text, 'test')).toContain('[redacted:own-secret]');
  }
  expect(redactor.redactText(`?q=${encodeURIComponent(odd)}&x`, 'test')).toBe(
    '?q=[redacted:own-secret]&x',
  );
});

/** Pieces that make, complete and disturb secrets. */
const piece = oneof(
  constantFrom(
    ...Object.values(planted),
    awsSetting,
    'npm_',
    'ghp_',
    '_authToken=',
    '[redacted:github]',
    '[redacted:',
    'postgres://user:',
    'S3cr3t!pw@',
    'db.internal/x',
    'https://admin:hunter2xyz@',
    'secretlint-disable',
    '-----BEGIN PRIVATE KEY-----\n',
    '"',
    '\\n',
    ' ',
    '\n',
  ),
  string({ maxLength: 12 }),
  string({ unit: constantFrom('a', '0', '_', '-'), minLength: 20, maxLength: 120 }),
);

const anyText = array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

it('SR1: redacting twice gives what redacting once gives', () => {
  const redactor = create();
  assert(
    property(anyText, (text) => {
      const once = redactor.redactText(text, 'test');
      expect(redactor.redactText(once, 'test')).toBe(once);
      expect(create().redactText(text, 'test')).toBe(once);
    }),
    { numRuns: 500, examples: [['npm_'.repeat(500)], [`${'ghp_'.repeat(90)} x`]] },
  );
});

it('SR1, SR2: no mark is a secret, also where one is set to a word of it', () => {
  const redactor = createRedactor({ secrets: ['redacted:github', '[redacted:'] });
  expect(redactor.redactText('[redacted:github] redacted:github', 'test')).toBe(
    '[redacted:github] [redacted:own-secret]',
  );
});

/** As it is written and read: without a zero below zero. */
const anyJson = jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));

it('SR3: JSON stays JSON of the same shape', () => {
  const redactor = create();
  assert(
    property(anyJson, anyText, anyText, (value, first, second) => {
      const before = { value, list: [first, { text: second }], n: 1e21 };
      const after: unknown = JSON.parse(redactor.redactText(JSON.stringify(before), 'test'));
      expect(after).toEqual({
        value: redactor.redactValue(value, 'test'),
        list: [redactor.redactValue(first, 'test'), redactor.redactValue({ text: second }, 'test')],
        n: 1e21,
      });
    }),
    { numRuns: 200 },
  );
});

it('SR3: a secret is known by the name of its field, and a name may be one', () => {
  expect(redact(JSON.stringify({ aws_secret_access_key: planted.awsSecret, n: 1 }))).toBe(
    '{"aws_secret_access_key":"[redacted:aws]","n":1}',
  );
  expect(redact(JSON.stringify({ [planted.github]: [planted.own] }))).toBe(
    '{"[redacted:github]":["[redacted:own-secret]"]}',
  );
});

it('SR3: nothing reaches over the end of a string, and a harmless text keeps its bytes', () => {
  const [begin = '', ...rest] = planted.privateKey.split('\n');
  const parts = JSON.stringify({ a: `${begin} is how a key begins`, b: 'between', c: rest.at(-1) });
  expect(redact(parts)).toBe(parts);
  const odd = '{ "n": 12345678901234567890, "b" : [1 ,2] }';
  expect(redact(odd)).toBe(odd);
});

it('SR2: neither a field that is named twice nor one that is very deep hides a secret', () => {
  expect(leaks(redact(`{"a":"${planted.github}","a":"harmless"}`))).toEqual([]);
  const deep = `${'['.repeat(5_000)}"${planted.github}"${']'.repeat(5_000)}`;
  const redacted = redact(deep);
  expect(leaks(redacted)).toEqual([]);
  expect(redacted).toContain('[redacted:too-deep]');
  expect(leaks(redact(`{"a":"\\u0067${planted.github.slice(1)}"}`))).toEqual([]);
});

it('SR3: a value without a secret is the same value', () => {
  const value = { a: ['text', { b: 'more text' }], c: null };
  expect(create().redactValue(value, 'test')).toBe(value);
});

it('SR4: no comment switches a rule off', () => {
  const text = `secretlint-disable\n/* secretlint-disable */ <!-- secretlint-disable-line --> ${planted.github}`;
  expect(leaks(redact(text))).toEqual([]);
});

const megabytes = 5_000_000;

it.each([
  ['one line', 'a'],
  ['beginnings of keys', '-----BEGIN PRIVATE KEY-----\n'],
  ['keys without end', `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(30)}\n`],
  ['secrets', `${planted.github} `],
  ['nearly a token of SendGrid', `SG.a.${'b'.repeat(300)} `],
  ['nearly an address with a password', `https://${'u'.repeat(250)}:${'p'.repeat(250)}@h `],
  ['tokens that end in tokens', 'npm_'],
])('SR5: 5 MB of %s are done in time', (_name, unit) => {
  const text = unit.repeat(Math.ceil(megabytes / unit.length));
  // A rule whose time grew with the square of the length would not end within the time of a test.
  const redacted = redact(text);
  expect(leaks(redacted)).toEqual([]);
});

it('SR6: each secret is counted once, by rule and sink, and not shown', () => {
  const told: unknown[] = [];
  const redactor = create((...args) => told.push(args));
  const text = `${planted.github} ${planted.own} ${planted.github}`;
  const once = redactor.redactText(text, 'artifact');
  expect(told).toEqual([
    ['github', 'artifact', 2],
    ['own-secret', 'artifact', 1],
  ]);
  told.length = 0;
  redactor.redactText(once, 'artifact');
  redactor.redactValue({ list: [planted.privateKey] }, 'ledger');
  expect(told).toEqual([['privatekey', 'ledger', 1]]);
});
