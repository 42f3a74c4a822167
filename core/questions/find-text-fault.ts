/** Finds texts of the user that could not be stored or shown exactly. */
import { engineLimits } from '../limits.ts';

/** @returns the reason why the text is refused, or null. */
export function findTextFault(text: string): string | null {
  if (text.length > engineLimits.answerCharsMax) {
    return `the answer has ${text.length} characters, the limit is ${engineLimits.answerCharsMax}`;
  }
  if (text.trim() === '') return 'the answer is empty';
  return findCharacterFault(text);
}

/** Finds characters that change on their way through files, terminals and databases. */
export function findCharacterFault(text: string): string | null {
  if (text.includes('\u0000')) return 'the answer contains a NUL character';
  if (/\p{Surrogate}/u.test(text)) {
    return 'the answer contains half of a surrogate pair, which is no character';
  }
  return null;
}
