/**
 * The run's inbox: all questions to the user, and all attempts to answer them.
 *
 * Invariants:
 *   IN1. A question is answered at most once, and its answer never changes.
 *   IN2. An escalation is delivered exactly once, when its last question is settled, with answers in the order of its
 *        questions.
 *   IN3. A repeated answer does nothing; a bad one is kept with its reason and changes nothing else.
 *   IN4. The same question for the same task is put to the user twice; after that the asker gets a reply at once. The second
 *        answer says so, and so do later ones.
 *   IN5. The engine's own questions are never refused as loops: only the user can end them.
 *   IN6. The whole state is carried over continue-as-new: an inbox goes on from it unchanged.
 *   IN7. The size of the state is bounded, however much is asked, answered and refused, and by whatever kind of question.
 *   IN8. A default is taken only when it is a valid answer, at its deadline or when the run takes defaults.
 *   IN9. The preview of a payload agrees with the step.
 *   IN10. Long answers stay out of the state; the effect has the whole text.
 *   IN11. A reminder and a hand-over change only their own fields: the question stays open as it was.
 *   IN12. A question that equals an open one joins it: it is asked once, every asker gets the answer, and none counts as asking
 *         again.
 *   IN13. A question that awaits a result in a cycle is put to no one: its asker gets the path, and it is reported as a loop.
 */
import type {
  CarriedInbox,
  PendingAnswer,
  PendingEscalation,
} from '../../contracts/planner-run.ts';
import type {
  AnswerInput,
  PlannerVerdict,
  Question,
  RejectedAnswer,
} from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { answererNames } from '../../contracts/names.ts';
import { answerByVerdict, answerUnasked, applyVerdict, verdictOn } from './answer-unasked.ts';
import type { UnaskedAnswer } from './answer-unasked.ts';
import { parseDefault } from './check-answer.ts';
import type { InboxEffect, InboxEvent } from './inbox-event.ts';
import { judgeAnswer } from './judge-answer.ts';
import { putQuestion, refuseCircular } from './put-question.ts';
import {
  deliverPending,
  isComplete,
  keepAnswerRef,
  settleQuestion,
  withdrawQuestions,
} from './settle-question.ts';

type EventOf<T extends InboxEvent['type']> = Extract<InboxEvent, { type: T }>;

/** The state is exactly what a run carries over continue-as-new. */
export type InboxState = CarriedInbox;

export interface InboxStep {
  readonly state: InboxState;
  /** Listed in the order in which they happened. */
  readonly effects: readonly InboxEffect[];
}

export type AnswerPreview =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly example: AnswerInput | null };

export function openInbox(carried: CarriedInbox | null): InboxState {
  return (
    carried ?? {
      open: [],
      answered: {},
      next_question: 1,
      asked: {},
      rejected: [],
      rejected_total: 0,
      pending: [],
    }
  );
}

export function stepInbox(state: InboxState, event: InboxEvent): InboxStep {
  switch (event.type) {
    case 'ask':
      return ask(state, event);
    case 'answer':
      return takeAnswer(state, event);
    case 'refuse':
      return reject(state, { question_id: null, example: null, ...event });
    case 'deadline':
      return takeAtDeadline(state, event.question_id, event.now);
    case 'reminder':
      return change(state, event.question_id, (question) => ({
        ...question,
        reminded: question.reminded + 1,
      }));
    case 'hand_over':
      return change(state, event.question_id, (question) =>
        question.escalate_to === null || question.escalated_at !== null
          ? question
          : { ...question, escalated_at: event.now },
      );
    case 'withdraw': {
      const { state: rest, gone, changed } = withdrawQuestions(state, event);
      const effects: InboxEffect[] = [
        ...gone.map((question) => ({ type: 'withdrawn' as const, question })),
        ...changed.map((question) => ({ type: 'changed' as const, question })),
      ];
      return { state: rest, effects };
    }
    case 'work_ended': {
      const { left: _left, ...rest } = state;
      return { state: rest, effects: [] };
    }
    case 'stored':
      return { state: keepAnswerRef(state, event.question_id, event.answer_ref), effects: [] };
    default:
      return { state, effects: [] };
  }
}

/** Returns the verdict of `stepInbox` on an answer without changing anything, for the update's validator. */
export function previewAnswer(
  state: InboxState,
  payload: unknown,
  approvers: readonly string[] | null = null,
): AnswerPreview {
  const verdict = judgeAnswer(state, payload, approvers);
  if (verdict.type !== 'refused') return { ok: true };
  return { ok: false, reason: verdict.reason, example: verdict.example };
}

function ask(state: InboxState, event: EventOf<'ask'>): InboxStep {
  const { escalation_id, from, delegation_id, questions } = event.escalation;
  // A child that repeats its escalation after a crash asks nothing new.
  if (state.pending.some((p) => p.escalation_id === escalation_id && p.from === from)) {
    return { state, effects: [] };
  }
  let current = state;
  const answers: PendingAnswer[] = [];
  const opened: { question: Question; answer: UnaskedAnswer | null }[] = [];
  const effects: InboxEffect[] = [];
  for (const [place, asked] of questions.entries()) {
    const verdict = verdictOn(event.escalation, place);
    const cycle = cycleIn(verdict);
    const answerOf = (question: Question): UnaskedAnswer | null =>
      answerByVerdict(question, verdict) ?? answerUnasked(question, event);
    const {
      state: next,
      answer,
      question,
      changed,
    } = cycle === null
      ? putQuestion(current, applyVerdict(asked, verdict), {
          ...event,
          ahead: answers,
          settlesAtOnce: (one) => answerOf(one) !== null,
        })
      : refuseCircular(current, asked, cycle);
    current = next;
    answers.push(answer);
    if (changed !== null) effects.push({ type: 'changed', question: changed });
    effects.push(...loopsIn(delegation_id, answer, cycle));
    if (question === null) continue;
    opened.push({ question, answer: answerOf(question) });
    effects.push({ type: 'opened', question });
  }
  const pending: PendingEscalation = { escalation_id, from, delegation_id, answers };
  if (isComplete(pending)) {
    return { state: current, effects: [...effects, deliverPending(pending)] };
  }
  current = { ...current, pending: [...current.pending, pending] };
  for (const { question, answer } of opened) {
    if (answer === null) continue;
    const step = settleQuestion(current, question, { ...answer, now: event.now });
    current = step.state;
    effects.push(...step.effects);
  }
  return { state: current, effects };
}

/** Only a wait that closes a cycle comes to an inbox as one. */
function cycleIn(verdict: PlannerVerdict | null): readonly string[] | null {
  return verdict?.verdict === 'awaits' ? verdict.source_refs : null;
}

/** Returns true when the question was refused because its task asked it before. */
function isRepeated({ settled, is_last }: PendingAnswer): boolean {
  return settled?.loop === true && is_last === true;
}

function loopsIn(
  delegation_id: string | null,
  answer: PendingAnswer,
  cycle: readonly string[] | null,
): InboxEffect[] {
  if (delegation_id === null || (cycle === null && !isRepeated(answer))) return [];
  const loop = { delegation_id, question: answer.text };
  return [{ type: 'looped', loop: cycle === null ? loop : { ...loop, cycle } }];
}

function takeAnswer(state: InboxState, event: EventOf<'answer'>): InboxStep {
  const verdict = judgeAnswer(state, event.payload, event.approvers);
  switch (verdict.type) {
    case 'taken': {
      const { question, text } = verdict;
      const answered_by = verdict.answered_by ?? event.default_answered_by;
      const { now, work_repeats = false } = event;
      return settleQuestion(state, question, { text, answered_by, now, work_repeats });
    }
    case 'repeated':
      return { state, effects: [{ type: 'repeated', question_id: verdict.question_id }] };
    case 'refused':
      return reject(state, { ...verdict, now: event.now });
    default:
      return { state, effects: [] };
  }
}

/** Keeps the newest rejected messages; beyond a number, later ones are only counted and not recorded. */
function reject(
  state: InboxState,
  message: Pick<RejectedAnswer, 'question_id' | 'reason' | 'example'> & { readonly now: number },
): InboxStep {
  const { question_id, reason, example, now } = message;
  const rejected: RejectedAnswer = {
    question_id,
    reason: cutText(reason, engineLimits.rejectedReasonCharsMax),
    example,
    rejected_at: now,
  };
  const isRecorded = state.rejected_total < engineLimits.rejectedAnswersRecordedMax;
  const kept = [...state.rejected, rejected].slice(-engineLimits.rejectedAnswersMax);
  return {
    state: { ...state, rejected: kept, rejected_total: state.rejected_total + 1 },
    effects: [{ type: 'rejected', rejected, isRecorded }],
  };
}

/**
 * Takes the default without comparing times. The timer is the clock: an event a moment early must not leave the
 * question open.
 */
function takeAtDeadline(state: InboxState, id: string, now: number): InboxStep {
  const question = state.open.find((q) => q.question_id === id);
  if (question === undefined || question.deadline_seconds === null) return { state, effects: [] };
  const parsed = parseDefault(question);
  if (parsed === null || !parsed.ok) return { state, effects: [] };
  const answered_by = answererNames.default;
  return settleQuestion(state, question, { text: parsed.text, answered_by, now });
}

function change(
  state: InboxState,
  id: string,
  toNext: (question: Question) => Question,
): InboxStep {
  const question = state.open.find((q) => q.question_id === id);
  const next = question === undefined ? undefined : toNext(question);
  if (next === undefined || next === question) return { state, effects: [] };
  const open = state.open.map((one) => (one === question ? next : one));
  return { state: { ...state, open }, effects: [{ type: 'changed', question: next }] };
}
