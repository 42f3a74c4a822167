/**
 * What a run waits for, in one line: the summary of a timer, and what memo and status show.
 *
 * Invariants:
 *   WA1. The line has at most 120 characters, names the question, and tells the default when one will be taken.
 */
import type { Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine } from '../text/clean-line.ts';
import { cutText } from '../text/cut-text.ts';
import { formatDuration } from './format-duration.ts';

/** `waiting for your answer to q3 (default: eu-west in 2 h)`; without a deadline, what is asked. */
export function describeWait(question: Question): string {
  const { default_answer: fallback, deadline_seconds: deadline } = question;
  const begin = `waiting for your answer to ${question.question_id}`;
  const max = engineLimits.labelCharsMax - begin.length;
  if (fallback === null || deadline === null) {
    return cutText(`${begin}: ${cleanLine(question.text, max)}`, engineLimits.labelCharsMax);
  }
  const when = ` in ${formatDuration(deadline)})`;
  const shown = cleanLine(fallback, max - ' (default: '.length - when.length);
  return `${begin} (default: ${shown}${when}`;
}
