/**
 * Recognises a question that comes again in other words, and lists what a task has asked so far (seed 003, "Loop
 * Detection").
 *
 * Invariants:
 *   RQ1. Order, case, punctuation and words without meaning make no difference: "Is each e-mail unique?" and "Is the email
 *        of each unique" are the same.
 *   RQ2. Every other word makes one, to its last letter and in every script: it is no loop to ask for the log and then for
 *        the map, and neither is "Welches Datenbanksystem?" after "Welche Datenbankgröße?".
 *   RQ3. The history of a task has every question of all its attempts in the order of asking, whoever asked the same with it,
 *        and whether it was answered or not.
 */
import type { CarriedInbox } from '../../contracts/planner-run.ts';
import type { AskedBefore, Question } from '../../contracts/question.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { engineLimits } from '../limits.ts';
import { normaliseText } from '../text/cut-text.ts';
import { hashText } from '../text/hash-text.ts';

/** Words that tell no question from another. A single capital is a name: service A is not service B. */
const emptyWords = /^(?:a|[Aa]n|[Tt]he|[Oo]f|[Ii]s|[Aa]re|[Bb]e|[Ii]t|[Tt]o)$/;

export function reduceQuestion(text: string): string {
  // Signs end names such as C++ and C#.
  const words = /[\p{L}\p{M}\p{N}_]+[+#]*/gu;
  const found = text.replace(/(?<=\p{L})['’-](?=\p{L})/gu, '').match(words) ?? [];
  const kept = new Set(
    found.flatMap((word) => (emptyWords.test(word) ? [] : [word.toLowerCase()])),
  );
  return kept.size === 0 ? normaliseText(text) : [...kept].toSorted().join(' ');
}

/** Returns the task of a delegation: a later attempt at a planned task has its number before the time. */
export function nameTask(delegation_id: string): string {
  return delegation_id.replace(/-\d{1,4}(?=_\d{10}$)/, '');
}

/**
 * Returns the key under which questions of one task with the same meaning are counted.
 *
 * @param delegation_id Null for the planner.
 */
export function questionKey(delegation_id: string | null, text: string): string {
  return `${nameTask(delegation_id ?? 'planner')}|${hashText(reduceQuestion(text))}`;
}

/** Lists the keys of the questions that are refused from now on: their tasks have asked them as often as they may. */
export function listRefused(asked: CarriedInbox['asked']): readonly string[] {
  return Object.entries(asked).flatMap(([key, { times }]) => (mayAskAgain(times) ? [] : key));
}

/** @param times Number of times that the question was asked. */
export function mayAskAgain(times: number): boolean {
  return times + 1 < engineLimits.sameQuestionMax;
}

/** Tells the asker why a question is not put to the user again. */
export function explainLoop(state: CarriedInbox, before: AskedBefore): string {
  const id = before.question_id;
  const answered = Object.hasOwn(state.answered, id) ? state.answered[id] : undefined;
  const known =
    answered === undefined
      ? `It is still open as ${id}.`
      : `The answer to ${id} was: ${JSON.stringify(answered.shown)}.`;
  return `This question was asked ${before.times} times before and is not put to the user again. ${known} Work with that, state what you assume, or report what cannot be done.`;
}

interface TaskQuestion {
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
