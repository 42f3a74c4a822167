/**
 * The run's inbox: every question to the user, and every attempt to answer one.
 *
 * Invariants:
 *   IN1. A question is answered once at most, and its answer never changes.
 *   IN2. An escalation is delivered exactly once, when its last question is settled, answers in the order of questions.
 *   IN3. The same answer again does nothing; a bad one is kept with its reason and changes nothing else.
 *   IN4. The same question for the same task is put to the user twice; after that the asker is told, at once.
 *   IN5. The engine's own decisions are never refused as loops: only the user can end them.
 *   IN6. What is carried over continue-as-new is the whole state: an inbox goes on from it as if nothing happened.
 *   IN7. The state is bounded, whatever is asked and answered.
 *   IN8. A default is taken only when it is an answer, at its deadline or when the run takes defaults.
 *   IN9. The preview says of each payload what the step would.
 *   IN10. Long answers stay out of the state; the effect has the whole text.
 */
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type {
  CarriedInbox,
  PendingAnswer,
  PendingEscalation,
  SettledAnswer,
} from '../../contracts/planner-run.ts';
import type { AnswerInput, Question, RejectedAnswer } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { parseDefault } from './check-answer.ts';
import { keepNewest, withdrawQuestions } from './withdraw-questions.ts';
import { acceptAnswer, judgeAnswer } from './judge-answer.ts';
import { putQuestion } from './put-question.ts';

type AskEvent = Extract<InboxEvent, { type: 'ask' }>;

/** The state is exactly what a run carries over continue-as-new. */
export type InboxState = CarriedInbox;

export type InboxEvent =
  | {
      readonly type: 'ask';
      readonly escalation: QuestionsEscalation;
      /** Unix epoch seconds, in all events. */
      readonly now: number;
      /** Take each question's default at once, where it has one. */
      readonly use_defaults: boolean;
      /** Of each question that has a default. If undefined, the questions wait. */
      readonly deadline_seconds?: number | null;
      /** Of each question that expects json. If undefined, any JSON is taken. */
      readonly answer_schema?: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly type: 'answer';
      readonly payload: unknown;
      readonly now: number;
      readonly default_answered_by: string;
    }
  | { readonly type: 'deadline'; readonly question_id: string; readonly now: number }
  /** Who asked is gone: a delegation, or with null all that this workflow asked for. */
  | {
      readonly type: 'withdraw';
      readonly from: string;
      readonly delegation_id: string | null;
      readonly now: number;
    }
  /** A long answer is in the store now. Kept until its escalation is delivered. */
  | { readonly type: 'stored'; readonly question_id: string; readonly answer_ref: Ref };

export type InboxEffect =
  | { readonly type: 'opened'; readonly question: Question }
  /** `text` is the whole answer, however long. */
  | {
      readonly type: 'answered';
      readonly question: Question;
      readonly text: string;
      readonly answered_by: string;
    }
  /** Nobody waits for it any more. */
  | { readonly type: 'withdrawn'; readonly question: Question }
  | { readonly type: 'rejected'; readonly rejected: RejectedAnswer }
  /** The same answer again: no harm done. */
  | { readonly type: 'repeated'; readonly question_id: string }
  /** All questions of an escalation are settled. */
  | {
      readonly type: 'deliver';
      readonly escalation_id: string;
      readonly from: string;
      readonly answers: readonly InboxDelivery[];
    };

/** A cut answer's `answer_ref` is set if the event `stored` came before the last answer of its escalation. */
export interface InboxDelivery extends SettledAnswer {
  /** Of a question that was not put to the user: the earlier one it repeats, or `not-asked`. */
  readonly question_id: string;
  /** The question. */
  readonly text: string;
}

export interface InboxStep {
  readonly state: InboxState;
  /** In the order in which they happened. */
  readonly effects: readonly InboxEffect[];
}

export type AnswerPreview =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly example: AnswerInput | null };

export function openInbox(carried: CarriedInbox | null): InboxState {
  return (
    carried ?? { open: [], answered: {}, next_question: 1, asked: {}, rejected: [], pending: [] }
  );
}

export function carryInbox(state: InboxState): CarriedInbox {
  return state;
}

export function stepInbox(state: InboxState, event: InboxEvent): InboxStep {
  switch (event.type) {
    case 'ask':
      return ask(state, event);
    case 'answer':
      return takeAnswer(state, event);
    case 'deadline':
      return takeDefault(state, event);
    case 'withdraw': {
      const { state: rest, gone } = withdrawQuestions(state, event);
      return { state: rest, effects: gone.map((question) => ({ type: 'withdrawn', question })) };
    }
    case 'stored':
      return { state: keepRef(state, event), effects: [] };
    default:
      return { state, effects: [] };
  }
}

/** What `stepInbox` would say to an answer. For the update's validator: changes nothing. */
export function previewAnswer(state: InboxState, payload: unknown): AnswerPreview {
  const verdict = judgeAnswer(state, payload);
  if (verdict.type !== 'refused') return { ok: true };
  return { ok: false, reason: verdict.reason, example: verdict.example };
}

function ask(state: InboxState, event: AskEvent): InboxStep {
  const { escalation_id, from, questions } = event.escalation;
  // A child that repeats itself after a crash asks nothing new.
  if (state.pending.some((p) => p.escalation_id === escalation_id && p.from === from)) {
    return { state, effects: [] };
  }
  let current = state;
  const answers: PendingAnswer[] = [];
  const opened: Question[] = [];
  for (const asked of questions) {
    const put = putQuestion(current, asked, { ...event, ahead: answers });
    current = put.state;
    answers.push(put.answer);
    if (put.question !== null) opened.push(put.question);
  }
  const pending: PendingEscalation = { escalation_id, from, answers };
  const effects: InboxEffect[] = opened.map((question) => ({ type: 'opened', question }));
  if (opened.length === 0) return { state: current, effects: [...effects, deliver(pending)] };
  current = { ...current, pending: [...current.pending, pending] };
  for (const question of event.use_defaults ? opened : []) {
    const step = takeDefaultOf(current, question, event.now);
    current = step.state;
    effects.push(...step.effects);
  }
  return { state: current, effects };
}

function takeAnswer(state: InboxState, event: Extract<InboxEvent, { type: 'answer' }>): InboxStep {
  const verdict = judgeAnswer(state, event.payload);
  switch (verdict.type) {
    case 'taken': {
      const answered_by = verdict.answered_by ?? event.default_answered_by;
      return settle(state, verdict.question, { text: verdict.text, answered_by, now: event.now });
    }
    case 'repeated':
      return { state, effects: [{ type: 'repeated', question_id: verdict.question_id }] };
    case 'refused': {
      const rejected: RejectedAnswer = {
        question_id: verdict.question_id,
        reason: cutText(verdict.reason, engineLimits.rejectedReasonCharsMax),
        example: verdict.example,
        rejected_at: event.now,
      };
      const kept = [...state.rejected, rejected].slice(-engineLimits.rejectedAnswersMax);
      return { state: { ...state, rejected: kept }, effects: [{ type: 'rejected', rejected }] };
    }
    default:
      return { state, effects: [] };
  }
}

/** The timer is the clock here: an event that comes a moment early must not leave the question open for ever. */
function takeDefault(
  state: InboxState,
  event: Extract<InboxEvent, { type: 'deadline' }>,
): InboxStep {
  const question = state.open.find((q) => q.question_id === event.question_id);
  if (question === undefined || question.deadline_seconds === null) return { state, effects: [] };
  return takeDefaultOf(state, question, event.now);
}

function takeDefaultOf(state: InboxState, question: Question, now: number): InboxStep {
  const parsed = parseDefault(question);
  if (parsed === null || !parsed.ok) return { state, effects: [] };
  return settle(state, question, { text: parsed.text, answered_by: 'default', now });
}

/** An answer is there: the question closes, and its escalation is delivered when it was the last one. */
function settle(
  state: InboxState,
  question: Question,
  answer: { readonly text: string; readonly answered_by: string; readonly now: number },
): InboxStep {
  const { text, answered_by } = answer;
  const id = question.question_id;
  const pending = settlePending(state.pending, id, {
    answer_text: cutText(text, engineLimits.inlineAnswerCharsMax),
    is_cut: text.length > engineLimits.inlineAnswerCharsMax,
    answer_ref: null,
    answered_by,
    loop: false,
  });
  const complete = pending.filter(isComplete);
  return {
    state: {
      ...state,
      open: state.open.filter((q) => q.question_id !== id),
      answered: keepNewest({ ...state.answered, [id]: acceptAnswer(question, text, answer) }),
      pending: pending.filter((p) => !isComplete(p)),
    },
    effects: [{ type: 'answered', question, text, answered_by }, ...complete.map(deliver)],
  };
}

function settlePending(
  pending: readonly PendingEscalation[],
  id: string,
  settled: SettledAnswer,
): PendingEscalation[] {
  return pending.map((p) => ({
    ...p,
    answers: p.answers.map((a) =>
      a.question_id === id && a.settled === null ? { ...a, settled } : a,
    ),
  }));
}

function isComplete(pending: PendingEscalation): boolean {
  return pending.answers.every((answer) => answer.settled !== null);
}

function deliver(pending: PendingEscalation): InboxEffect {
  return {
    type: 'deliver',
    escalation_id: pending.escalation_id,
    from: pending.from,
    answers: pending.answers.flatMap(({ question_id, text, settled }) =>
      settled === null ? [] : [{ question_id, text, ...settled }],
    ),
  };
}

function keepRef(state: InboxState, event: Extract<InboxEvent, { type: 'stored' }>): InboxState {
  const keep = (answer: PendingAnswer): PendingAnswer =>
    answer.question_id === event.question_id && answer.settled?.is_cut === true
      ? { ...answer, settled: { ...answer.settled, answer_ref: event.answer_ref } }
      : answer;
  return {
    ...state,
    pending: state.pending.map((p) => ({ ...p, answers: p.answers.map(keep) })),
  };
}
