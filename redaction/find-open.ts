import { spellSecret } from './own-secrets.ts';

/** The beginning of a private key. What follows tells whether it is one. */
const keyHeader = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY/g;

/** What a private key has behind that, as far as it goes: the end of the line, headers, and lines of Base64. */
const keyRest =
  /^(?: BLOCK)?-{0,5}(?:(?:\s|\\[nr])+[A-Za-z-]{1,20}: [^\n\\]{0,200})*(?:\s|\\[nr]|[A-Za-z0-9+/=])*$/;

/** A secret of one word is never shown in part, for nobody shows the word that is still being written. */
const severalWords = /[\s\u0080-\uffff]/;

/**
 * Where in a text that goes on a secret of several words has begun whose end is missing.
 *
 * @param secrets as they are.
 * @returns a function to the first such place, or the length of the text.
 */
export function createOpenFinder(secrets: readonly string[]): (text: string) => number {
  const spellings = secrets.flatMap(spellSecret).filter((spelling) => severalWords.test(spelling));
  return (text) =>
    Math.min(findOpenKey(text), ...spellings.map((spelling) => findOpenSecret(text, spelling)));
}

function findOpenKey(text: string): number {
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    if (keyRest.test(text.slice(index + header.length))) return index;
  }
  return text.length;
}

function findOpenSecret(text: string, spelling: string): number {
  const first = spelling.charAt(0);
  const from = Math.max(0, text.length - spelling.length + 1);
  for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
    if (spelling.startsWith(text.slice(at))) return at;
  }
  return text.length;
}
