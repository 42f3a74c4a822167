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
import type { Question, QuestionRules, QuestionRulesInput } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';

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
