/**
 * Closes questions whose askers are all gone.
 *
 * Invariants:
 *   WQ1. Questions of this asker alone close and are never delivered; those with other askers stay open for them.
 *   WQ2. A late answer is refused with the reason.
 */
import { answererNames } from '../../contracts/names.ts';
import type { CarriedInbox, PendingEscalation } from '../../contracts/planner-run.ts';
import type { Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { leaveQuestion } from './join-question.ts';
import { acceptAnswer } from './judge-answer.ts';

export interface Withdrawal {
  /** The workflow that waited for the answers. */
  readonly from: string;
  /** Null for everything that the workflow waited for. */
  readonly delegation_id: string | null;
  /** Unix epoch seconds. */
  readonly now: number;
}

export interface Withdrawn {
  readonly state: CarriedInbox;
  readonly gone: readonly Question[];
  /** Questions that others still wait for. */
  readonly changed: readonly Question[];
}

export function withdrawQuestions(state: CarriedInbox, withdrawal: Withdrawal): Withdrawn {
  const { from, delegation_id, now } = withdrawal;
  const isGone = (pending: PendingEscalation): boolean =>
    pending.from === from && (delegation_id === null || pending.delegation_id === delegation_id);
  const left = state.pending.filter((pending) => !isGone(pending));
  const awaited = awaitedBy(left);
  const dropped = awaitedBy(state.pending.filter(isGone));
  const gone = state.open.filter((q) => dropped.has(q.question_id) && !awaited.has(q.question_id));
  const askers = (id: string): Set<string | null> =>
    new Set(left.filter((p) => awaits(p, id)).map((pending) => pending.delegation_id));
  const open = state.open
    .filter((question) => !gone.includes(question))
    .map((question) => {
      if (!dropped.has(question.question_id)) return question;
      const still = askers(question.question_id);
      return leaveQuestion(question, (id) => !still.has(id));
    });
  const text = 'withdrawn: nobody waits for it any more';
  const closed = gone.map((question) => [
    question.question_id,
    acceptAnswer(question, text, { answered_by: answererNames.engine, now }),
  ]);
  return {
    gone,
    changed: open.filter((question) => !state.open.includes(question)),
    state: {
      ...state,
      open,
      answered: keepNewest({ ...state.answered, ...Object.fromEntries(closed) }),
      pending: left,
    },
  };
}

function awaits(pending: PendingEscalation, id: string): boolean {
  return pending.answers.some((answer) => answer.question_id === id && answer.settled === null);
}

/** Returns the question_ids whose answers these escalations still need. */
function awaitedBy(pending: readonly PendingEscalation[]): ReadonlySet<string> {
  const answers = pending.flatMap((one) => one.answers);
  return new Set(answers.filter((a) => a.settled === null).map((a) => a.question_id));
}

/** Keeps the newest answers: the table is carried over continue-as-new and must not grow for ever. */
export function keepNewest(answered: CarriedInbox['answered']): CarriedInbox['answered'] {
  const entries = Object.entries(answered);
  const over = entries.length - engineLimits.questionsMax;
  return over > 0 ? Object.fromEntries(entries.slice(over)) : answered;
}
