/** Closes an answered question, and delivers each escalation that waited only for it. */
import { answererNames } from '../../contracts/names.ts';
import type {
  CarriedInbox,
  PendingAnswer,
  PendingEscalation,
  SettledAnswer,
} from '../../contracts/planner-run.ts';
import type { AcceptedAnswer, Question } from '../../contracts/question.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import type { InboxEffect, Withdrawal } from './inbox-event.ts';
import { acceptAnswer } from './judge-answer.ts';
import type { AmendedAnswer } from '../../contracts/messages.ts';
import { listNames } from '../text/list-names.ts';
import { checkAnswer, needsExplicitWord, type Verdict } from './check-answer.ts';
import { leaveQuestion } from './check-asked-questions.ts';
import { informsWork, isPerson } from './answer-kinds.ts';

interface Settlement {
  /** The whole answer in its canonical text form. */
  readonly text: string;
  readonly answered_by: string;
  /** Sources that the planner took it from. If undefined, none. */
  readonly source_refs?: readonly string[];
  /** Unix epoch seconds. */
  readonly now: number;
  /** True when the work that waits for it is about to be done once more, so that whoever asks the same again takes it. Default false. */
  readonly work_repeats?: boolean;
}

interface Settled {
  readonly state: CarriedInbox;
  readonly effects: readonly InboxEffect[];
}

export function settleQuestion(
  state: CarriedInbox,
  question: Question,
  answer: Settlement,
): Settled {
  const { text, answered_by, source_refs = [], work_repeats = false } = answer;
  const id = question.question_id;
  const settled: SettledAnswer = {
    answer_text: cutText(text, engineLimits.inlineAnswerCharsMax),
    is_cut: text.length > engineLimits.inlineAnswerCharsMax,
    answer_ref: null,
    answered_by,
    loop: false,
  };
  const pending = settlePending(state.pending, id, settled);
  const isLeft =
    (work_repeats && informsWork(question.kind)) || !state.pending.some((one) => awaits(one, id));
  const left = isLeft && { left: [...(state.left ?? []), { question, settled, is_taken: false }] };
  const complete = pending.filter(isComplete);
  return {
    state: {
      ...state,
      open: state.open.filter((q) => q.question_id !== id),
      answered: keepNewest({ ...state.answered, [id]: acceptAnswer(question, text, answer) }),
      pending: pending.filter((p) => !isComplete(p)),
      ...left,
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
    answers: pending.answers.flatMap(({ settled, ...answer }) =>
      settled === null ? [] : [{ ...answer, ...settled }],
    ),
  };
}

/** Keeps the reference to a long answer with the escalations that wait for more answers, and with an answer that no one took. */
export function keepAnswerRef(state: CarriedInbox, questionId: string, ref: Ref): CarriedInbox {
  const left = state.left?.map((one) =>
    one.question.question_id === questionId && one.settled.is_cut
      ? { ...one, settled: { ...one.settled, answer_ref: ref } }
      : one,
  );
  const keep = (answer: PendingAnswer): PendingAnswer =>
    answer.question_id === questionId && answer.settled?.is_cut === true
      ? { ...answer, settled: { ...answer.settled, answer_ref: ref } }
      : answer;
  return {
    ...state,
    pending: state.pending.map((p) => ({ ...p, answers: p.answers.map(keep) })),
    ...(left && { left }),
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

/**
 * Closes questions whose askers are all gone.
 *
 * Invariants:
 *   WQ1. Questions of this asker alone close and are never delivered; those with other askers stay open for them, and one
 *        about the budget of a workflow for that workflow.
 *   WQ2. A late answer is refused with the reason.
 *   WQ3. If the run does the same work once more, questions about the work stay open: whoever asks the same again joins
 *        them, or takes the answer that came before, until that work has ended.
 */

interface Withdrawn {
  readonly state: CarriedInbox;
  readonly gone: readonly Question[];
  /** Questions that others still wait for. */
  readonly changed: readonly Question[];
}

export function withdrawQuestions(state: CarriedInbox, withdrawal: Withdrawal): Withdrawn {
  const { from, delegation_id, escalation_id, is_repeated = false, is_over = false } = withdrawal;
  const { now } = withdrawal;
  const budgets = state.open.filter(({ kind }) => kind === 'budget');
  const isOfBudget = (pending: PendingEscalation): boolean =>
    budgets.some(({ question_id }) => awaits(pending, question_id));
  const isGone = (pending: PendingEscalation): boolean =>
    pending.from === from &&
    (delegation_id === null
      ? is_over || !isOfBudget(pending)
      : pending.delegation_id === delegation_id) &&
    (escalation_id === undefined || pending.escalation_id === escalation_id);
  const left = state.pending.filter((pending) => !isGone(pending));
  const awaited = awaitedBy(left);
  const dropped = awaitedBy(state.pending.filter(isGone));
  const stays = (q: Question): boolean =>
    awaited.has(q.question_id) || (is_repeated && informsWork(q.kind));
  const gone = state.open.filter((q) => dropped.has(q.question_id) && !stays(q));
  const askers = (id: string): Set<string | null> =>
    new Set(left.filter((p) => awaits(p, id)).map((pending) => pending.delegation_id));
  const open = state.open
    .filter((question) => !gone.includes(question))
    .map((question) => {
      if (!dropped.has(question.question_id) || !awaited.has(question.question_id)) return question;
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

/** Returns true if the asker still needs the answer to a question. */
export function awaits(pending: PendingEscalation, id: string): boolean {
  return pending.answers.some((answer) => answer.question_id === id && answer.settled === null);
}

/** Returns the question_ids whose answers these escalations still need. */
function awaitedBy(pending: readonly PendingEscalation[]): ReadonlySet<string> {
  const answers = pending.flatMap((one) => one.answers);
  return new Set(answers.filter((a) => a.settled === null).map((a) => a.question_id));
}

/** Keeps the newest answers: the table is carried over continue-as-new and must not grow for ever. */
function keepNewest(answered: CarriedInbox['answered']): CarriedInbox['answered'] {
  const entries = Object.entries(answered);
  const over = entries.length - engineLimits.questionsMax;
  return over > 0 ? Object.fromEntries(entries.slice(over)) : answered;
}

/**
 * The user changes an answer: the inbox then knows the new one as the answer.
 *
 * Invariants:
 *   AA1. Nothing changes but the answer of a question that was answered, and changing it twice is changing it once.
 *   AA2. To repeat what a person answered changes nothing; to repeat a default, an assumption or an answer of a model
 *        confirms it: it is the user's answer from then on.
 */

/** Returns true when the answer changes nothing. */
export function isSameOfPerson(
  before: Pick<StoredAnswer, 'answer' | 'answer_ref' | 'answered_by'>,
  { answer, answer_ref }: Pick<AmendedAnswer, 'answer' | 'answer_ref'>,
): boolean {
  return (
    before.answer === answer && before.answer_ref === answer_ref && isPerson(before.answered_by)
  );
}

/** @param now Unix epoch seconds. */
export function amendAnswer(
  inbox: CarriedInbox,
  { question_id, answer, hash }: Pick<AmendedAnswer, 'question_id' | 'answer' | 'hash'>,
  now: number,
): CarriedInbox {
  const known = Object.hasOwn(inbox.answered, question_id);
  const before = known ? inbox.answered[question_id] : undefined;
  if (before === undefined) return inbox;
  if (before.hash === hash && isPerson(before.answered_by)) return inbox;
  const after: AcceptedAnswer = {
    ...before,
    hash,
    // Other spellings of a choice are known only while its question is.
    same_hashes: [],
    shown: cutText(answer, engineLimits.shownAnswerCharsMax),
    answered_by: 'user',
    answered_at: now,
  };
  return { ...inbox, answered: { ...inbox.answered, [question_id]: after } };
}

/**
 * Decides whether the user may change an accepted answer.
 *
 * Invariants:
 *   JM1. Only the answer to an answered question changes, and only to one that the question's format accepts.
 *   JM2. Any payload gets a verdict; a refusal says why and what to try.
 *   JM3. A decision that lets the run act or spend stays as it was made: its asker has gone by it.
 */

interface AskedSoFar {
  readonly open: readonly Pick<Question, 'question_id'>[];
  /** `question`: as it was asked; null when it was not kept. */
  readonly answered: readonly {
    readonly question_id: string;
    readonly question: Question | null;
  }[];
}

export function judgeAmendedAnswer(
  { open, answered }: AskedSoFar,
  questionId: string,
  answer: unknown,
): Verdict {
  const found = answered.find(({ question_id }) => question_id === questionId);
  if (found === undefined) {
    return { ok: false, reason: explainUnknown(questionId, { open, answered }) };
  }
  if (found.question === null) {
    return {
      ok: false,
      reason: `how ${questionId} was asked is not known any more. Try: an instruction without answers`,
    };
  }
  if (needsExplicitWord(found.question.kind)) {
    return {
      ok: false,
      reason: `${questionId} is a decision that lets the run act or spend, and the run has gone by it. Try: an instruction without answers`,
    };
  }
  const checked = checkAnswer(found.question, answer);
  if (checked.ok) return checked;
  const example =
    checked.example === null
      ? ''
      : `. Try: ${JSON.stringify({ question_id: questionId, answer: checked.example })}`;
  return { ok: false, reason: `${questionId}: ${checked.reason}${example}` };
}

function explainUnknown(questionId: string, { open, answered }: AskedSoFar): string {
  const shown = JSON.stringify(cutText(questionId, 60));
  if (open.some(({ question_id }) => question_id === questionId)) {
    return `${shown} is still open. Try: planwave answer, or the signal answer`;
  }
  const ids = answered.map(({ question_id }) => question_id);
  const known = ids.length === 0 ? 'an instruction without answers' : `one of ${listNames(ids)}`;
  return `there is no answered question ${shown}. Try: ${known}`;
}
