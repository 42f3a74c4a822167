/**
 * Reduces a question to what tells it from others of the same task, so that one that comes again in other words is
 * recognised, and lists what a task has asked so far (seed 003, "Loop Detection").
 *
 * Invariants:
 *   RQ1. Order, case, punctuation, small words and endings make no difference: "Is each e-mail unique?" and "Is the email
 *        of each unique" are the same. Every longer word does.
 *   RQ2. Names, figures and words in capitals always make a difference: asking for two ports is no loop.
 *   RQ3. The history of a task has every question of all its attempts in the order of asking, whoever asked the same with it,
 *        and whether it was answered or not.
 */
import type { Question } from '../../contracts/question.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
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

/** Question of a task. */
export interface TaskQuestion {
  readonly question_id: string;
  readonly text: string;
  /** Null while it is open. */
  readonly answered: StoredAnswer | null;
}

/** Lists the questions of the task that a delegation works on. Those that were refused or withdrawn are in no record. */
export function listTaskQuestions(
  delegation_id: string,
  record: Pick<RunRecord, 'answered_questions' | 'open_questions'>,
): TaskQuestion[] {
  const task = nameTask(delegation_id);
  const isOf = (id: string | null): boolean => id !== null && nameTask(id) === task;
  const isAskedBy = (one: Pick<Question, 'delegation_id' | 'also_asked_by'>): boolean =>
    isOf(one.delegation_id) || one.also_asked_by.some((asker) => isOf(asker.delegation_id));
  const answered = record.answered_questions
    .filter(({ question, ...one }) =>
      question === null ? isOf(one.delegation_id) : isAskedBy(question),
    )
    .map((one) => ({ question_id: one.question_id, text: one.text, answered: one }));
  const open = record.open_questions
    .filter(isAskedBy)
    .map(({ question_id, text }) => ({ question_id, text, answered: null }));
  const numberOf = ({ question_id }: TaskQuestion): number => Number(question_id.slice(1));
  return [...answered, ...open].toSorted((a, b) => numberOf(a) - numberOf(b));
}
