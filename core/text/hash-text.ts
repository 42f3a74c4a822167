/**
 * A short fingerprint of a text, equal on every machine. Not cryptographic: artifacts are addressed by SHA-256.
 *
 * Invariants:
 *   H1. Equal texts have equal hashes, on every machine and in every version of this file: hashes are carried.
 *
 * @returns 64 bits as 16 lower-case hex digits.
 */
export function hashText(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  const mixedHigh =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const mixedLow =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^
    Math.imul(mixedHigh ^ (mixedHigh >>> 13), 3_266_489_909);
  return toHex(mixedHigh) + toHex(mixedLow);
}

function toHex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}

/**
 * Splits a text into terms for full-text search: the same for stored and for searched texts, and for every database.
 *
 * Invariants:
 *   TE1. A term consists of letters, digits and their marks, at least one and at most 64: no text can break a query
 *        that is built of its terms.
 *   TE2. Case, accents, and full or half width make no difference.
 *   TE3. In scripts without spaces, two adjacent characters are a term, so that a word is found within a sentence.
 *   TE4. Each term is named once, in the order of the text.
 */

/** Most characters of a term. A longer one is no word, but a key or a table. */
const termCharsMax = 64;

const wordCharacter = String.raw`[\p{L}\p{N}\p{M}]`;

/** Scripts whose words are not separated by spaces. */
const unspaced = String.raw`(?=${wordCharacter})[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]`;

const runs = new RegExp(
  String.raw`(?<dense>(?:${unspaced})+)|(?:(?!${unspaced})${wordCharacter})+`,
  'gu',
);

/** Accents of Latin, Greek and Cyrillic. In other scripts a mark may be a vowel. */
const accents = /[\u0300-\u036f]/g;

export function listTerms(text: string): string[] {
  const folded = text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(accents, '')
    .normalize('NFC');
  const terms = [...folded.matchAll(runs)].flatMap(({ 0: run, groups }) =>
    groups?.['dense'] === undefined ? [cutTerm(run)] : pairsOf(run),
  );
  return [...new Set(terms)].filter((term) => /[\p{L}\p{N}]/u.test(term));
}

function cutTerm(run: string): string {
  // Cut by whole characters, so that none is split.
  return run.length <= termCharsMax
    ? run
    : Array.from(run)
        .slice(0, termCharsMax / 2)
        .join('');
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, before) => `${characters[before]}${character}`);
}
