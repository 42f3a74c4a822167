/**
 * Words the end of a run that nobody attends, so that it can be told from one that a person stopped.
 *
 * Invariants:
 *   UN1. The reason of such an end is recognised, and no reason that a person typed without these words is.
 */
import type { Question } from '../../contracts/question.ts';
import { cutText } from '../text/cut-text.ts';

const mark = 'Nobody attends this run, and only a person can answer:';

export function describeUnanswered({
  question_id,
  text,
}: Pick<Question, 'question_id' | 'text'>): string {
  return `${mark} ${cutText(text, 200)} (${question_id})`;
}

/** Returns true for the reason of a run that ended at a question. */
export function isUnanswered(stopReason: string | undefined): boolean {
  return stopReason?.startsWith(mark) ?? false;
}
