/** Puts an asked question into the inbox, joins it to an open one, or refuses it with a reason for the asker. */
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import { answererNames } from '../../contracts/names.ts';
import type { CarriedInbox, LeftAnswer, PendingAnswer } from '../../contracts/planner-run.ts';
import type {
  AskedQuestion,
  Question,
  QuestionKind,
  QuestionRules,
} from '../../contracts/question.ts';
import { questionId } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { parseDefault } from './check-answer.ts';
import { awaits } from './settle-question.ts';
import {
  findLeftAnswer,
  findSameQuestion,
  takeLeftAnswer,
  joinQuestion,
} from './check-asked-questions.ts';
import { explainLoop, mayAskAgain, questionKey } from './repeated-questions.ts';

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
  return agentsKinds.includes(context.escalation.kind)
    ? putAgents(state, asked, context)
    : putEngines(state, asked, context);
}

/** The engine asks only for decisions of the user. Each question costs one decision, so no model can loop. */
function putEngines(state: CarriedInbox, asked: AskedQuestion, context: PutContext): PutQuestion {
  const { inboxCharsMax, inboxReserveChars } = engineLimits;
  const full = findLackOfRoom(state, asked, context, inboxCharsMax + inboxReserveChars);
  return full === null ? openQuestion(state, asked, context) : refuse(state, asked, notAsked, full);
}

function putAgents(state: CarriedInbox, asked: AskedQuestion, context: PutContext): PutQuestion {
  const { key, hasTwin } = readKey(asked, context);
  const before = Object.hasOwn(state.asked, key) ? state.asked[key] : undefined;
  const found = { left: findLeft(state, asked, context), same: findSame(state, asked, context) };
  const isRepeat = before !== undefined && !isUncounted(found);
  const isCounted = before === undefined || (isRepeat && !hasTwin);
  const times = (before?.times ?? 0) + (isCounted ? 1 : 0);
  if (isRepeat && times >= engineLimits.sameQuestionMax) {
    const next = { ...state, asked: { ...state.asked, [key]: { ...before, times } } };
    return refuse(next, asked, before.question_id, explainLoop(state, before));
  }
  const put = putOnce(state, asked, { ...context, ...found });
  if (typeof put === 'string') return refuse(state, asked, notAsked, put);
  const count = { times, question_id: put.answer.question_id };
  return {
    ...put,
    state: { ...put.state, asked: { ...put.state.asked, [key]: count } },
    answer: mayAskAgain(times) ? put.answer : { ...put.answer, is_last: true },
  };
}

/** Returns its key, and whether the escalation has the same further ahead: whoever put both knew no answer yet. */
function readKey(
  { text }: AskedQuestion,
  { escalation: { delegation_id: id, questions }, ahead }: PutContext,
): { readonly key: string; readonly hasTwin: boolean } {
  const key = questionKey(id, text);
  const others = questions.slice(0, ahead.length);
  return { key, hasTwin: others.some((one) => questionKey(id, one.text) === key) };
}

interface Found {
  /** The answer that came before anybody asked again. */
  readonly left: LeftAnswer | undefined;
  readonly same: Same | undefined;
}

/** Returns true for the first asker of work that the run does once more, and for one who joins others that still wait. */
function isUncounted({ left, same }: Found): boolean {
  return left === undefined ? same !== undefined : !left.is_taken;
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

/** @returns the reason why no further question fits, if it is neither answered nor open. */
function putOnce(
  state: CarriedInbox,
  asked: AskedQuestion,
  { left, same, ...context }: PutContext & Found,
): PutQuestion | string {
  if (left !== undefined) return takeLeft(state, left, context);
  const full = findFullness(state, asked, context, same !== undefined);
  if (full !== null) return full;
  return same === undefined ? openQuestion(state, asked, context) : join(state, same);
}

function findLeft(
  { left = [], next_question }: CarriedInbox,
  asked: AskedQuestion,
  context: PutContext,
): LeftAnswer | undefined {
  const coming = buildQuestion(questionId(next_question), asked, context);
  const found = findLeftAnswer(left, coming);
  return found === undefined || context.settlesAtOnce(coming) ? undefined : found;
}

function takeLeft(state: CarriedInbox, left: LeftAnswer, { escalation }: PutContext): PutQuestion {
  const { question_id, text } = left.question;
  return {
    state: { ...state, left: takeLeftAnswer(state.left ?? [], left, escalation.wave) },
    answer: { question_id, text, settled: left.settled },
    question: null,
    changed: null,
  };
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
  const unasked = state.open.filter((question) => !hasAsker(state, question));
  const chars =
    JSON.stringify([state.open, state.pending, context.ahead, asked]).length +
    (state.left === undefined ? 0 : JSON.stringify(state.left).length) +
    asked.text.length +
    (awaited.length + unasked.length + context.ahead.length + 1) *
      engineLimits.inlineAnswerCharsMax;
  if (chars <= charsMax) return null;
  return `Too many questions wait for the user at the same time. ${goOn}`;
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
    ...(id !== notAsked && { is_last: true }),
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
