/**
 * What a run waits for, in one line: the summary of a timer, and what memo and status show.
 *
 * Invariants:
 *   WA1. The line has at most 120 characters, names the question, and tells the default when one will be taken.
 *   WA2. It tells how often people were reminded, and who else was asked.
 *   WA3. Each timer of a question has a name that says what it brings.
 */
import type { Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import type { QuestionMoment } from '../questions/question-moments.ts';
import { cleanLine } from '../text/clean-line.ts';
import { cutText } from '../text/cut-text.ts';
import { formatDuration } from './format-duration.ts';

/** A longer name would push out the question. */
const personCharsMax = 30;

/**
 * `waiting for your answer to q3 (default: eu-west in 2 h)`; without a deadline, what is asked. After a while
 * `waiting for your answer to q3, now also for Maria, reminded 2 times: Which region?`
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

/** The name of the timer that brings it. Where nothing else comes, the reminder is the wait itself. */
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

/** `, now also for Maria, reminded 2 times`; empty at first. */
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
