import type { AskedLoop } from '../../contracts/adaptation.ts';
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type { SettledAnswer } from '../../contracts/planner-run.ts';
import type {
  AnsweredQuestion,
  Autonomy,
  Question,
  QuestionRules,
  RejectedAnswer,
  QuestionRulesInput,
} from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

export interface Withdrawal {
  /** The workflow that waited for the answers. */
  readonly from: string;
  /** Null for everything that the workflow waited for. */
  readonly delegation_id: string | null;
  /** Absent: all that the delegation waited for. */
  readonly escalation_id?: string;
  /** True if the run does the same work once more. Default false. */
  readonly is_repeated?: boolean;
  /** True if the workflow has ended: then it does not wait for its question about its budget either. Default false. */
  readonly is_over?: boolean;
  /** Unix epoch seconds. */
  readonly now: number;
}

/** Events of an inbox. `now` is in Unix epoch seconds. */
export type InboxEvent =
  | {
      readonly type: 'ask';
      readonly escalation: QuestionsEscalation;
      readonly now: number;
      /** Take the default of each question at once, if it has one. */
      readonly use_defaults: boolean;
      readonly autonomy: Autonomy;
      readonly rules: QuestionRules;
      /** Schema of each question that expects json. If undefined, any JSON is accepted. */
      readonly answer_schema?: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly type: 'answer';
      readonly payload: unknown;
      readonly now: number;
      readonly default_answered_by: string;
      /** Defined in OpenRunResult. If undefined, nobody is named. */
      readonly approvers?: readonly string[] | null;
      /** True when the work that waits for it is about to be done once more. Absent: false. */
      readonly work_repeats?: boolean;
    }
  /** A message other than an answer was refused. */
  | { readonly type: 'refuse'; readonly reason: string; readonly now: number }
  /** The moment has arrived. */
  | { readonly type: QuestionMoment; readonly question_id: string; readonly now: number }
  /** The asker is gone. */
  | ({ readonly type: 'withdraw' } & Withdrawal)
  /** The work that was done once more has ended: answers that it did not ask for again are left to no one. */
  | { readonly type: 'work_ended' }
  /** A long answer is in the store. Its reference is kept until its escalation is delivered. */
  | { readonly type: 'stored'; readonly question_id: string; readonly answer_ref: Ref };

export type InboxEffect =
  | { readonly type: 'opened'; readonly question: Question }
  /** People are reminded of it, or another person is asked too. */
  | { readonly type: 'changed'; readonly question: Question }
  /** `text` is the whole answer, of any length. */
  | {
      readonly type: 'answered';
      readonly question: Question;
      readonly text: string;
      readonly answered_by: string;
      /** Sources that the planner took it from. */
      readonly source_refs: readonly string[];
    }
  /** Its last asker is gone. */
  | { readonly type: 'withdrawn'; readonly question: Question }
  /** `isRecorded` is false once the record lists as many as it may. */
  | {
      readonly type: 'rejected';
      readonly rejected: RejectedAnswer;
      readonly isRecorded: boolean;
    }
  /** A task asked the same once more than it may, or waits in a cycle, so its question goes to no one. */
  | { readonly type: 'looped'; readonly loop: AskedLoop }
  /** The same answer was given again, which changes nothing. */
  | { readonly type: 'repeated'; readonly question_id: string }
  /** All questions of an escalation are settled. */
  | {
      readonly type: 'deliver';
      readonly escalation_id: string;
      readonly from: string;
      readonly answers: readonly InboxDelivery[];
    };

export type AnsweredEffect = Extract<InboxEffect, { type: 'answered' }>;

/** Makes an answered question as views and the record have it: a long answer is cut. @param now Unix epoch seconds. */
export function toAnswered(
  { question, text, answered_by, source_refs }: AnsweredEffect,
  now: number,
): AnsweredQuestion {
  return {
    question_id: question.question_id,
    text: question.text,
    delegation_id: question.delegation_id,
    answer: cutText(text, engineLimits.inlineAnswerCharsMax),
    answered_by,
    source_refs,
    answered_at: now,
  };
}

/** A cut answer's `answer_ref` is set if the event `stored` came before the last answer of its escalation. */
interface InboxDelivery extends SettledAnswer {
  /** Id of the question; if it was not put to the user, of the earlier one that it repeats, or `not-asked`. */
  readonly question_id: string;
  readonly text: string;
  /** Defined in DeliveredAnswer. */
  readonly is_last?: true;
}

/**
 * Moments of a question without an answer: its default is taken, people are reminded, or another person is asked too.
 *
 * Invariants:
 *   QM1. Moments are counted from the time of asking, so every reader finds the same ones at any time.
 *   QM2. At the deadline the question is over: no reminder and no hand-over happens then or later.
 *   QM3. Reminders come at growing intervals, so that they are few however long a question waits. A missed one is not
 *        repeated.
 *   QM4. A hand-over happens once.
 */

export type QuestionMoment = 'deadline' | 'reminder' | 'hand_over';

export const questionMoments: readonly QuestionMoment[] = ['deadline', 'reminder', 'hand_over'];

/** @param input If undefined: no deadline, a reminder each week, no other person. */
export function resolveQuestionRules(input: QuestionRulesInput | undefined): QuestionRules {
  return {
    deadline_seconds: input?.deadline_seconds ?? null,
    remind_seconds: input?.remind_seconds ?? engineLimits.questionReminderSeconds,
    escalate_to: input?.escalate_to ?? null,
  };
}

/**
 * @param now Unix epoch seconds.
 * @returns the moment's next time in Unix epoch seconds, which may have passed; null when there is none.
 */
export function whenComes(moment: QuestionMoment, question: Question, now: number): number | null {
  const { asked_at, deadline_seconds } = question;
  const deadline = deadline_seconds === null ? null : asked_at + deadline_seconds;
  if (moment === 'deadline') return deadline;
  const at = moment === 'reminder' ? nextReminder(question, now) : handOver(question);
  return at === null || (deadline !== null && at >= deadline) ? null : at;
}

function handOver({ asked_at, escalate_to, escalated_at }: Question): number | null {
  return escalate_to === null || escalated_at !== null
    ? null
    : asked_at + escalate_to.after_seconds;
}

/** Doubles each interval, up to a week, or up to the first interval where that is longer. */
function nextReminder({ asked_at, remind_seconds }: Question, now: number): number {
  const longest = Math.max(engineLimits.questionReminderSeconds, remind_seconds);
  let interval = remind_seconds;
  let at = asked_at + interval;
  while (at <= now && interval < longest) {
    interval = Math.min(interval * 2, longest);
    at += interval;
  }
  const missed = Math.max(0, Math.floor((now - at) / longest) + 1);
  return at <= now ? at + missed * longest : at;
}
