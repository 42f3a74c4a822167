import { spellSecret } from './own-secrets.ts';
import { findOpenPrivateKey } from './private-key.ts';

/**
 * Matches secrets of several words. Those of one word are never shown in part, because an unfinished word is not shown.
 */
const severalWords = /[\s\u0080-\uffff]/;

/**
 * Finds the place in a growing text where a secret of several words has begun and not ended.
 *
 * @param secrets Secrets in plain form.
 * @returns a function to the first such place, or the length of the text.
 */
export function createOpenFinder(secrets: readonly string[]): (text: string) => number {
  const spellings = secrets.flatMap(spellSecret).filter((spelling) => severalWords.test(spelling));
  return (text) =>
    Math.min(
      findOpenPrivateKey(text),
      ...spellings.map((spelling) => findOpenSecret(text, spelling)),
    );
}

function findOpenSecret(text: string, spelling: string): number {
  const first = spelling.charAt(0);
  const from = Math.max(0, text.length - spelling.length + 1);
  for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
    if (spelling.startsWith(text.slice(at))) return at;
  }
  return text.length;
}
