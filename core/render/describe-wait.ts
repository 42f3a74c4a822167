/**
 * Describes in one line what a run waits for: the summary of a timer, also shown in memo and status.
 *
 * Invariants:
 *   WA1. The line has at most 120 characters, names the question, and shows the default when one will be taken.
 *   WA2. The line shows the number of reminders, and the other person that was asked.
 *   WA3. Each timer of a question is named after its effect.
 */
import type { Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import type { QuestionMoment } from '../questions/question-moments.ts';
import { cleanLine } from '../text/clean-line.ts';
import { cutText } from '../text/cut-text.ts';
import { formatDuration } from './format-duration.ts';

/** Characters of a person's name. A longer one would displace the question. */
const personCharsMax = 30;

/**
 * Returns `waiting for your answer to q3 (default: eu-west in 2 h)`, or without a deadline the question. Later it
 * becomes `waiting for your answer to q3, now also for Maria, reminded 2 times: Which region?`
 */
export function describeWait(question: Question): string {
  const { default_answer: fallback, deadline_seconds: deadline } = question;
  const begin = `waiting for your answer to ${question.question_id}${describeUrging(question)}`;
  const max = engineLimits.labelCharsMax - begin.length;
  if (fallback === null || deadline === null) return withText(begin, question);
  const when = ` in ${formatDuration(deadline)})`;
  const shown = cleanLine(fallback, max - ' (default: '.length - when.length);
  return `${begin} (default: ${shown}${when}`;
}

/** Names the timer of a moment. A reminder without a deadline is named like the wait itself. */
export function describeMoment(moment: QuestionMoment, question: Question): string {
  const { question_id, escalate_to, deadline_seconds, reminded } = question;
  if (moment === 'hand_over' && escalate_to !== null) {
    const person = cleanLine(escalate_to.person, personCharsMax);
    const when = formatDuration(escalate_to.after_seconds);
    return withText(`${question_id} is also for ${person} after ${when}`, question);
  }
  return moment === 'reminder' && deadline_seconds !== null
    ? withText(`reminder ${reminded + 1} about ${question_id}`, question)
    : describeWait(question);
}

/** Returns `, now also for Maria, reminded 2 times`; empty at first. */
export function describeUrging({ escalate_to, escalated_at, reminded }: Question): string {
  const also =
    escalate_to === null || escalated_at === null
      ? ''
      : `, now also for ${cleanLine(escalate_to.person, personCharsMax)}`;
  if (reminded === 0) return also;
  return `${also}, reminded ${reminded === 1 ? 'once' : `${reminded} times`}`;
}

function withText(begin: string, question: Question): string {
  const max = engineLimits.labelCharsMax - begin.length;
  return cutText(`${begin}: ${cleanLine(question.text, max)}`, engineLimits.labelCharsMax);
}
