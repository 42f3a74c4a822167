/**
 * Checks that questions can be put to a person as they are.
 *
 * Invariants:
 *   AQ1. A choice offers at least two different answers, none of them blank.
 *   AQ2. A default is an answer that the question itself would accept.
 *   AQ3. No fact_key is blank.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion, Question, Asker } from '../../contracts/question.ts';
import { normaliseKey } from '../pool/admit-facts.ts';
import { parseDefault } from './check-answer.ts';
import { normaliseText } from '../text/cut-text.ts';
import type { LeftAnswer } from '../../contracts/planner-run.ts';
import type { PlanView, QuestionWait } from '../../contracts/views.ts';
import { listDependents } from '../schedule/dependencies.ts';

/** @param path Path of the list: `user_questions`. */
export function checkAskedQuestions(
  questions: readonly AskedQuestion[],
  path: string,
): OutputFault[] {
  return questions.flatMap((question, i) => checkAskedQuestion(question, `${path}[${i}]`));
}

function checkAskedQuestion(question: AskedQuestion, path: string): OutputFault[] {
  const faults: OutputFault[] = [];
  if (question.text.trim() === '') {
    faults.push({
      path: `${path}.text`,
      reason: 'the question is blank',
      hint: 'Try: a question that can be understood without other context',
    });
  }
  if (question.fact_key !== undefined && normaliseKey(question.fact_key) === null) {
    faults.push({
      path: `${path}.fact_key`,
      reason: 'the key is blank',
      hint: 'Try: the key of the fact that the answer settles, or no fact_key',
    });
  }
  if (question.expected_answer_format === 'choice' && countChoices(question.choices) < 2) {
    faults.push({
      path: `${path}.choices`,
      reason: 'a "choice" needs at least two different choices, none of them blank',
      hint: 'Try: list two or more choices, or use another expected_answer_format',
    });
    return faults;
  }
  const parsed = parseDefault(question);
  if (parsed !== null && !parsed.ok) {
    faults.push({
      path: `${path}.default_answer`,
      reason: `the default is no answer that this question takes: ${parsed.reason}`,
      hint: `Try: ${parsed.example === null ? '' : `${JSON.stringify(toDefault(parsed.example))}, or `}null when there is no default`,
    });
  }
  return faults;
}

function countChoices(choices: readonly string[]): number {
  if (choices.some((choice) => choice.trim() === '')) return 0;
  return new Set(choices).size;
}

/** Converts an example to a default, which is text in every format. */
function toDefault(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}

/** Checks that the planner's statements about user input agree with each other. */

export function checkUserQuestions(asks: {
  readonly needs_user_input: boolean;
  readonly user_questions: readonly AskedQuestion[];
}): OutputFault[] {
  const { needs_user_input: needed, user_questions: questions } = asks;
  const faults = checkAskedQuestions(questions, 'user_questions');
  if (needed && questions.length === 0) {
    faults.unshift({
      path: 'user_questions',
      reason: 'needs_user_input is true but there is no question',
      hint: 'Try: add the question, or set needs_user_input to false',
    });
  }
  if (!needed && questions.length > 0) {
    faults.unshift({
      path: 'needs_user_input',
      reason: `needs_user_input is false but there are ${questions.length} user_questions`,
      hint: 'Try: true if they are critical, else an empty list of user_questions',
    });
  }
  return faults;
}

/**
 * Finds an open question with the same meaning, so that a person is asked once and every asker gets the answer.
 *
 * Two questions mean the same when their normalised texts, their formats and their choices are equal.
 *
 * Invariants:
 *   SQ1. A question joins an open one with the same meaning, when both belong to one task, or block delegations of one
 *        wave.
 *   SQ2. It joins no other question: neither an answered one, nor one of the engine, nor one of another wave.
 *   SQ3. An open question that no one waits for is left from work that the run does once more. Whoever asks the same
 *        joins it, in whichever wave, and becomes its asker. Asking once more counts for no loop.
 *   SQ4. So is an answer that no one waited for. Whoever asks the same gets it at once, under its question_id, and so do
 *        all that would have joined the question.
 *
 * @param isAwaited Returns true if some work waits for the answer to an open question.
 */
export function findSameQuestion(
  open: readonly Question[],
  coming: Question,
  isAwaited: (question: Question) => boolean,
): Question | undefined {
  return open.find(
    (other) => isJoinable(other, coming, isAwaited(other)) && meansTheSame(other, coming),
  );
}

function isJoinable(open: Question, coming: Question, isAwaited: boolean): boolean {
  if (open.kind !== coming.kind) return false;
  if (coming.kind === 'blocking') return open.wave === coming.wave || !isAwaited;
  if (coming.kind === 'design') return open.agent_id === coming.agent_id;
  return coming.kind === 'planner' && open.delegation_id === coming.delegation_id;
}

function meansTheSame(a: Question, b: Question): boolean {
  return (
    a.expected_answer_format === b.expected_answer_format &&
    a.choices.toSorted().join('\n') === b.choices.toSorted().join('\n') &&
    normaliseText(a.text) === normaliseText(b.text)
  );
}

/** Finds the answer to a question with the same meaning that is left from work that the run does once more. */
export function findLeftAnswer(
  left: readonly LeftAnswer[],
  coming: Question,
): LeftAnswer | undefined {
  return left.find(
    ({ question, is_taken }) =>
      isJoinable(question, coming, is_taken) && meansTheSame(question, coming),
  );
}

/** Gives a left answer to an asker of a wave: from now on only those take it who would join an open question. */
export function takeLeftAnswer(
  left: readonly LeftAnswer[],
  taken: LeftAnswer,
  wave: number,
): LeftAnswer[] {
  return left.map((one) =>
    one === taken ? { ...one, question: { ...one.question, wave }, is_taken: true } : one,
  );
}

/**
 * Askers of a question that several have asked.
 *
 * Invariants:
 *   JQ1. Each asker is named once, in the order of asking, for as long as it waits.
 *   JQ2. A joined question is as urgent as its most urgent asker says, and settles the fact that the first asker to
 *        name one named.
 */

const urgency: readonly Question['priority'][] = ['low', 'normal', 'high', 'critical'];

/** Returns the open question with one more asker; the same object when that changes nothing. */
export function joinQuestion(open: Question, coming: Question): Question {
  const known = askersOf(open).some((asker) => asker.delegation_id === coming.delegation_id);
  const isMoreUrgent = urgency.indexOf(coming.priority) > urgency.indexOf(open.priority);
  const isKeyNew = open.fact_key === undefined && coming.fact_key !== undefined;
  if (known && !isMoreUrgent && !isKeyNew) return open;
  const { delegation_id, agent_id, fact_key } = coming;
  return {
    ...open,
    ...(isKeyNew && { fact_key }),
    priority: isMoreUrgent ? coming.priority : open.priority,
    also_asked_by: known
      ? open.also_asked_by
      : [...open.also_asked_by, { delegation_id, agent_id }],
  };
}

/** Returns the open question without askers that are gone. @param isGone Called with an asker's delegation_id. */
export function leaveQuestion(
  open: Question,
  isGone: (delegationId: string | null) => boolean,
): Question {
  const left = askersOf(open).filter(({ delegation_id }) => !isGone(delegation_id));
  const [first, ...others] = left;
  if (first === undefined || left.length === 1 + open.also_asked_by.length) return open;
  return { ...open, ...first, also_asked_by: others };
}

export function askersOf({ delegation_id, agent_id, also_asked_by }: Question): readonly Asker[] {
  return [{ delegation_id, agent_id }, ...also_asked_by];
}

/**
 * Lists the delegations that stand still until a question is answered.
 *
 * Invariants:
 *   LW1. Every delegation that asked is listed, once, in the order of asking.
 *   LW2. Each delegation of the same plan that depends on them, directly or indirectly, is listed once, in the order of
 *        the plan, and no other.
 *
 * @param plan The plan of the current wave, if there is one.
 */
export function listWaiting(question: Question, plan: PlanView | null): QuestionWait {
  const waiting = askersOf(question).flatMap(({ delegation_id }) => delegation_id ?? []);
  const planned = plan?.wave === question.wave ? plan.delegations : [];
  return { waiting, blocked: listDependents(waiting, planned) };
}
