/** Puts an asked question into the inbox, joins it to an open one, or refuses it with a reason for the asker. */
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import { answererNames } from '../../contracts/names.ts';
import type { AskedBefore, CarriedInbox, PendingAnswer } from '../../contracts/planner-run.ts';
import type {
  AskedQuestion,
  Question,
  QuestionKind,
  QuestionRules,
} from '../../contracts/question.ts';
import { questionId } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { nameTask, reduceQuestion } from './reduce-question.ts';
import { hashText } from '../text/hash-text.ts';
import { parseDefault } from './check-answer.ts';
import { joinQuestion } from './join-question.ts';
import { awaits } from './settle-question.ts';

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
 *        joins it, in whichever wave, and becomes its asker.
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

export interface PutContext {
  readonly escalation: QuestionsEscalation;
  readonly now: number;
  readonly rules: QuestionRules;
  readonly answer_schema?: Readonly<Record<string, unknown>> | null;
  /** Returns true when the run answers the question by itself: then it waits for no answer and joins none. */
  readonly settlesAtOnce: (question: Question) => boolean;
  /** Earlier questions of the same escalation. */
  readonly ahead: readonly PendingAnswer[];
}

export interface PutQuestion {
  readonly state: CarriedInbox;
  readonly answer: PendingAnswer;
  /** The question that was opened. Null when it is not put to the user, or has joined another one. */
  readonly question: Question | null;
  /** The open question that it joined and thereby changed, or null. */
  readonly changed: Question | null;
}

/** Characters that are enough to recognise the asker's question. */
const refusedTextCharsMax = 300;

/** Id of questions that were never given one. */
const notAsked = 'not-asked';

/** Kinds of questions that follow from what an agent says or does, so their number has no natural bound. */
const agentsKinds: readonly QuestionKind[] = [
  'blocking',
  'planner',
  'design',
  'approval',
  'effect',
];

export function putQuestion(
  state: CarriedInbox,
  asked: AskedQuestion,
  context: PutContext,
): PutQuestion {
  // The engine asks only for decisions of the user. Each question costs one decision, so no model can loop.
  const isEngines = !agentsKinds.includes(context.escalation.kind);
  if (isEngines) {
    const { inboxCharsMax, inboxReserveChars } = engineLimits;
    const full = findLackOfRoom(state, asked, context, inboxCharsMax + inboxReserveChars);
    return full === null
      ? openQuestion(state, asked, context)
      : refuse(state, asked, notAsked, full);
  }
  const task = nameTask(context.escalation.delegation_id ?? 'planner');
  const key = `${task}|${hashText(reduceQuestion(asked.text))}`;
  const before = Object.hasOwn(state.asked, key) ? state.asked[key] : undefined;
  const times = (before?.times ?? 0) + 1;
  if (before !== undefined && times >= engineLimits.sameQuestionMax) {
    const count = { ...before, times };
    const next = { ...state, asked: { ...state.asked, [key]: count } };
    return refuse(next, asked, before.question_id, explainLoop(state, before));
  }
  const same = findSame(state, asked, context);
  const full = findFullness(state, asked, context, same !== undefined);
  if (full !== null) return refuse(state, asked, notAsked, full);
  const put = same === undefined ? openQuestion(state, asked, context) : join(state, same);
  const count = { times, question_id: put.answer.question_id };
  return { ...put, state: { ...put.state, asked: { ...put.state.asked, [key]: count } } };
}

interface Same {
  readonly open: Question;
  readonly coming: Question;
}

function findSame(
  state: CarriedInbox,
  asked: AskedQuestion,
  context: PutContext,
): Same | undefined {
  const coming = buildQuestion(questionId(state.next_question), asked, context);
  const same = findSameQuestion(state.open, coming, (open) => hasAsker(state, open));
  return same === undefined || context.settlesAtOnce(coming) ? undefined : { open: same, coming };
}

function join(state: CarriedInbox, { open: same, coming }: Same): PutQuestion {
  const { wave, delegation_id, agent_id } = coming;
  const joined = hasAsker(state, same)
    ? joinQuestion(same, coming)
    : { ...joinQuestion(same, coming), wave, delegation_id, agent_id, also_asked_by: [] };
  return {
    state: { ...state, open: state.open.map((one) => (one === same ? joined : one)) },
    answer: { question_id: same.question_id, text: coming.text, settled: null },
    question: null,
    changed: joined === same ? null : joined,
  };
}

function hasAsker({ pending }: CarriedInbox, { question_id }: Question): boolean {
  return pending.some((one) => awaits(one, question_id));
}

function openQuestion(state: CarriedInbox, asked: AskedQuestion, context: PutContext): PutQuestion {
  const question = buildQuestion(questionId(state.next_question), asked, context);
  return {
    state: { ...state, open: [...state.open, question], next_question: state.next_question + 1 },
    answer: { question_id: question.question_id, text: question.text, settled: null },
    question,
    changed: null,
  };
}

function buildQuestion(id: string, asked: AskedQuestion, context: PutContext): Question {
  const { kind, wave, delegation_id, agent_id } = context.escalation;
  const isJson = asked.expected_answer_format === 'json';
  const question: Question = {
    question_id: id,
    kind,
    wave,
    delegation_id,
    agent_id,
    also_asked_by: [],
    text: cutText(asked.text, engineLimits.questionCharsMax),
    why_it_matters: cutText(asked.why_it_matters, engineLimits.questionCharsMax),
    priority: asked.priority,
    expected_answer_format: asked.expected_answer_format,
    choices: asked.choices,
    default_answer: asked.default_answer,
    ...(asked.fact_key !== undefined && { fact_key: asked.fact_key }),
    answer_schema: isJson ? (context.answer_schema ?? null) : null,
    deadline_seconds: context.escalation.deadline_seconds ?? context.rules.deadline_seconds,
    remind_seconds: context.rules.remind_seconds,
    reminded: 0,
    escalate_to: context.rules.escalate_to,
    escalated_at: null,
    asked_at: context.now,
  };
  // A default that is no valid answer would be promised but never taken, and without a default nothing lapses.
  return parseDefault(question)?.ok === true
    ? question
    : { ...question, default_answer: null, deadline_seconds: null };
}

/** @returns the reason why no further question fits, or null. */
function findFullness(
  state: CarriedInbox,
  asked: AskedQuestion,
  context: PutContext,
  isJoining: boolean,
): string | null {
  const { questionsMax, inboxCharsMax } = engineLimits;
  // A question that joins needs no number, but it counts among those that were asked.
  const count = isJoining ? Object.keys(state.asked).length : state.next_question - 1;
  if (count >= questionsMax) {
    return `The run has put ${questionsMax} questions to the user, which is the limit. ${goOn}`;
  }
  return findLackOfRoom(state, asked, context, inboxCharsMax);
}

const goOn =
  'Go on without an answer: take the most careful assumption and state it, or report what cannot be done.';

function findLackOfRoom(
  state: CarriedInbox,
  asked: AskedQuestion,
  context: PutContext,
  charsMax: number,
): string | null {
  // Each awaited answer counts with the room that it may need until it is delivered.
  const awaited = state.pending.flatMap(({ answers }) => answers).filter((a) => a.settled === null);
  const chars =
    JSON.stringify([state.open, state.pending, context.ahead, asked]).length +
    asked.text.length +
    (awaited.length + context.ahead.length + 1) * engineLimits.inlineAnswerCharsMax;
  if (chars <= charsMax) return null;
  return `Too many questions wait for the user at the same time. ${goOn}`;
}

/** Returns true when the question was refused because its task asked it before. */
export function isRepeated({ question_id, settled }: PendingAnswer): boolean {
  return settled?.loop === true && question_id !== notAsked;
}

function refuse(
  state: CarriedInbox,
  asked: AskedQuestion,
  id: string,
  reason: string,
): PutQuestion {
  const answer: PendingAnswer = {
    question_id: id,
    text: cutText(asked.text, refusedTextCharsMax),
    settled: {
      answer_text: cutText(reason, engineLimits.inlineAnswerCharsMax),
      is_cut: false,
      answer_ref: null,
      answered_by: answererNames.engine,
      loop: true,
    },
  };
  return { state, answer, question: null, changed: null };
}

/** Refuses a question whose answer waits for a result that itself waits for the asker. */
export function refuseCircular(
  state: CarriedInbox,
  asked: AskedQuestion,
  cycle: readonly string[],
): PutQuestion {
  const reason = `Nobody can answer this: each of ${cycle.join('→')} waits for the next. Finish what does not depend on it, and report this path with what cannot be done.`;
  return refuse(state, asked, notAsked, reason);
}

function explainLoop(state: CarriedInbox, before: AskedBefore): string {
  const id = before.question_id;
  const answered = Object.hasOwn(state.answered, id) ? state.answered[id] : undefined;
  const known =
    answered === undefined
      ? `It is still open as ${id}.`
      : `The answer to ${id} was: ${JSON.stringify(answered.shown)}.`;
  return `This question was asked ${before.times} times before and is not put to the user again. ${known} Work with that, state what you assume, or report what cannot be done.`;
}
