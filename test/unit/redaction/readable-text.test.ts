import * as fc from 'fast-check';
import {
  createJsonStrings,
  createReadableText,
  createSettledText,
} from '../../../activities/redaction/readable-text.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { planted, plantedPieces } from '../../support/planted.ts';
import { property } from '../core/builders.ts';

/** A text in pieces of these lengths, over and over. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = lengths[pieces.length % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const pieceLengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 12 });
const anyText = fc.string({ unit: 'binary', maxLength: 40 });

function readStrings(json: string, lengths: readonly number[]): string[] {
  const take = createJsonStrings(new Set(['a', 'b']));
  const strings = new Map<number, string>();
  for (const { string, text } of cut(json, lengths).flatMap((piece) => take(piece))) {
    strings.set(string, (strings.get(string) ?? '') + text);
  }
  return [...strings.values()];
}

describe('the strings of some fields of a JSON that streams', () => {
  it('JS1: are what JSON.parse gives, however the JSON is cut and written', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.jsonValue({ maxDepth: 3 }),
        pieceLengths,
        fc.boolean(),
        (a, b, other, lengths, isAscii) => {
          const value = { x: { a: 'DEEP' }, a, y: [{ b: 'DEEP' }, other], b, z: other };
          const json = JSON.stringify(value, null, lengths[0]);
          const written = isAscii
            ? json.replaceAll(
                /[\u007f-\uffff]/g,
                (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
              )
            : json;
          expect(readStrings(written, lengths)).toEqual([a, b].filter((text) => text !== ''));
        },
      ),
      property,
    );
  });

  it.each([
    '',
    '{',
    '{"a',
    '{"a":7,"b":"x',
    'null',
    '["a","b"]',
    '{"a":"x\\',
    '{"a":"\\u00',
    '}}{"a":',
  ])('JS1: of broken JSON, what there is: %j', (json) => {
    expect(readStrings(json, [1]).join('')).toMatch(/^x?$/);
  });
});

describe('what people can read of a reply', () => {
  const output = JSON.stringify({
    status: 'completed',
    compact_md: 'Short.',
    detailed_md: '# "Long"',
  });

  it.each([
    ['an output', false, [['text', output]], 'Short.\n\n# "Long"'],
    [
      'an output in a fence',
      false,
      [['text', `\`\`\`json\n${output}\n\`\`\``]],
      'Short.\n\n# "Long"',
    ],
    ['free text', true, [['text', '{"compact_md":1}']], '{"compact_md":1}'],
    [
      'what a leader says, and the tasks that it gives out',
      false,
      [
        ['text', ' Both at once.'],
        ['arguments', '{"member_id":"a","task":"Find\\nout."}'],
        ['arguments', '{"task":"Write.","name":"b"}'],
      ],
      'Both at once.\n\nFind\nout.\n\nWrite.',
    ],
    ['other calls', false, [['arguments', '{"detail_id":"x"}']], ''],
  ] as const)('RX1: %s', (_title, isFree, blocks, expected) => {
    fc.assert(
      fc.property(pieceLengths, (lengths) => {
        const read = createReadableText(isFree);
        const text = blocks.flatMap(([kind, whole], block) =>
          cut(whole, lengths).map((piece) => read({ block, kind, text: piece })),
        );
        expect(text.join('')).toBe(expected);
      }),
      property,
    );
  });
});

const passphrase = 'planted own words that are a secret of seven';
const redactor = createRedactor({ secrets: [planted.own, passphrase] });

const secret = fc.constantFrom(
  // One of them is known by the name before it alone.
  ...Object.values(planted).filter((one) => one !== planted.awsSecret),
  passphrase,
  `aws_secret_access_key = "${planted.awsSecret}"`,
  planted.privateKey.replace('KEY-----', `KEY-----\nComment: ${'long '.repeat(38)}\n`),
);
const prose = fc.oneof(
  fc.lorem({ maxCount: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constant('不含空格的文字'.repeat(60)),
  fc.constant('It begins with -----BEGIN RSA PRIVATE KEY----- and, as all know, ends. '),
);
/** Secrets stand between spaces, as in a text that somebody writes. */
const document = fc
  .array(fc.oneof({ weight: 3, arbitrary: prose }, { weight: 1, arbitrary: secret }), {
    maxLength: 14,
  })
  .map((parts) => parts.join(' \n'));

/** A look at each: one at every character takes a minute. */
const longerPieces = fc.array(fc.integer({ min: 11, max: 200 }), { minLength: 1, maxLength: 9 });

/** Each line, and the words of the passphrase that are no words of anything else. */
const leaks = [...plantedPieces.map((piece) => piece.slice(0, 12)), 'own words that are a secret'];

/** Reads as a follower does: looks after every piece and appends what is new. */
function readOn(text: string, lengths: readonly number[]) {
  const settled = createSettledText(redactor);
  let joined = '';
  for (const piece of cut(text, lengths)) {
    settled.add(piece);
    const { text: tail, chars } = settled.look();
    expect(tail.length).toBeLessThanOrEqual(4_000);
    expect(chars).toBeGreaterThanOrEqual(joined.length);
    const fresh = chars - joined.length;
    expect(fresh).toBeLessThanOrEqual(4_000);
    if (fresh > 0) joined += tail.slice(-fresh);
    expect(joined.endsWith(tail)).toBe(true);
  }
  return { joined, words: settled.lastWords() };
}

describe('a text that goes on, for readers who read on where they stopped', () => {
  it('SX1 and SX2: what is read is the beginning of the redacted text, and no secret, whole or in part', () => {
    fc.assert(
      fc.property(document, longerPieces, (text, lengths) => {
        const { joined, words } = readOn(text, lengths);
        expect(redactor.redactText(text, 'progress').startsWith(joined)).toBe(true);
        expect(leaks.filter((leak) => joined.includes(leak) || words.includes(leak))).toEqual([]);
      }),
      property,
    );
  });

  it('SX1: all but the end is shown as it comes, also beside a secret and in a script without spaces', () => {
    for (const part of ['Words and words. ', '不含空格的文字', `A key ${planted.github} here. `]) {
      const text = part.repeat(200);
      const { joined, words } = readOn(text, [37]);
      const whole = redactor.redactText(text, 'progress');
      expect(whole.length - joined.length).toBeLessThan(400);
      expect(words.length).toBeLessThanOrEqual(8_000);
      expect(whole.trimEnd().endsWith(words.slice(-100))).toBe(true);
    }
  });

  it('SX2: of a long secret nothing is shown until its end is there, and then the text goes on', () => {
    const text = `Before. ${'x '.repeat(200)}${planted.privateKey}\nAfter it. ${'y '.repeat(200)}`;
    const { joined } = readOn(text, [1]);
    expect(joined).toContain('[redacted:privatekey]\nAfter it.');
    expect(
      readOn(`${'x '.repeat(200)}${planted.privateKey.slice(0, 400)}`, [1]).joined,
    ).not.toContain('[redacted');
  });

  it('SX3: of what has no end it shows no more, however much comes', () => {
    const settled = createSettledText(redactor);
    for (let i = 0; i < 100; i += 1) {
      settled.add('x'.repeat(50_000));
      settled.look();
    }
    expect(settled.look()).toEqual({ text: '', chars: 0 });
    const sound = createSettledText(redactor);
    sound.add('A line of text.\n'.repeat(300_000));
    const { text, chars } = sound.look();
    expect(text.length).toBe(4_000);
    expect(chars).toBeGreaterThan(4_799_000);
  });
});

describe('SR7: where a secret of several words has begun', () => {
  it.each([
    ['nothing begins here.', null],
    ['a text that ends with planted own wo', 'planted own wo'],
    [`a whole one: ${passphrase} and more`, null],
    ['a line\n-----BEGIN RSA PRIVATE KEY', '-----BEGIN RSA PRIVATE KEY'],
    [`see ${planted.privateKey.slice(0, 500)}`, planted.privateKey.slice(0, 500)],
    [`see ${planted.privateKey}`, null],
    ['a key begins with -----BEGIN PRIVATE KEY-----, as all know', null],
  ])('SR7: %j', (text, begun) => {
    expect(redactor.findOpen(text)).toBe(begun === null ? text.length : text.indexOf(begun));
  });
});
