/**
 * Reduces a question to what tells it from others of the same task, so that one that comes again in other words is
 * recognised (seed 003, "Loop Detection").
 *
 * Invariants:
 *   RQ1. Order, case, punctuation, small words and endings make no difference: "Is each e-mail unique?" and "Is the email
 *        of each unique" are the same. Every longer word does.
 *   RQ2. Names, figures and words in capitals always make a difference: asking for two ports is no loop.
 */
import { normaliseText } from '../text/cut-text.ts';

/** Letters by which a word is compared: endings are left out. */
const stemChars = 6;
/** Words of at most this many letters carry little meaning, unless they are written in capitals. */
const smallWordChars = 3;
/** A longer run of letters is no word of a script with spaces. */
const wordCharsMax = 40;

export function reduceQuestion(text: string): string {
  const words = text.replace(/(?<=\p{L})['’-](?=\p{L})/gu, '').match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const kept = new Set(words.flatMap(reduceWord));
  return kept.size === 0 ? normaliseText(text) : [...kept].toSorted().join(' ');
}

function reduceWord(word: string): string[] {
  const folded = word.toLowerCase();
  const isName = /[\p{N}_]/u.test(word) || word.length > wordCharsMax;
  if (isName || (word.length <= smallWordChars && word === word.toUpperCase())) return [folded];
  return word.length <= smallWordChars ? [] : [folded.slice(0, stemChars)];
}

/** Returns the task of a delegation: a later attempt at a planned task has its number before the time. */
export function nameTask(delegation_id: string): string {
  return delegation_id.replace(/-\d{1,4}(?=_\d{10}$)/, '');
}
