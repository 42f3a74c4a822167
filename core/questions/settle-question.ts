/** Closes an answered question, and delivers each escalation that waited only for it. */
import type {
  CarriedInbox,
  PendingAnswer,
  PendingEscalation,
} from '../../contracts/planner-run.ts';
import type { SettledAnswer } from '../../contracts/planner-run.ts';
import type { Question } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import type { InboxEffect } from './inbox-event.ts';
import { acceptAnswer } from './judge-answer.ts';
import { keepNewest } from './withdraw-questions.ts';

export interface Settlement {
  /** The whole answer in its canonical text form. */
  readonly text: string;
  readonly answered_by: string;
  /** Sources that the planner took it from. If undefined, none. */
  readonly source_refs?: readonly string[];
  /** Unix epoch seconds. */
  readonly now: number;
}

export interface Settled {
  readonly state: CarriedInbox;
  readonly effects: readonly InboxEffect[];
}

export function settleQuestion(
  state: CarriedInbox,
  question: Question,
  answer: Settlement,
): Settled {
  const { text, answered_by, source_refs = [] } = answer;
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
    effects: [
      { type: 'answered', question, text, answered_by, source_refs },
      ...complete.map(deliverPending),
    ],
  };
}

export function deliverPending(pending: PendingEscalation): InboxEffect {
  return {
    type: 'deliver',
    escalation_id: pending.escalation_id,
    from: pending.from,
    answers: pending.answers.flatMap(({ question_id, text, settled }) =>
      settled === null ? [] : [{ question_id, text, ...settled }],
    ),
  };
}

/** Keeps the reference to a long answer with the escalations that wait for more answers. */
export function keepAnswerRef(state: CarriedInbox, questionId: string, ref: Ref): CarriedInbox {
  const keep = (answer: PendingAnswer): PendingAnswer =>
    answer.question_id === questionId && answer.settled?.is_cut === true
      ? { ...answer, settled: { ...answer.settled, answer_ref: ref } }
      : answer;
  return {
    ...state,
    pending: state.pending.map((p) => ({ ...p, answers: p.answers.map(keep) })),
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

export function isComplete(pending: PendingEscalation): boolean {
  return pending.answers.every((answer) => answer.settled !== null);
}
