/** Words what the user is asked about a task that failed, and how it ends when the user gives it up. */
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { isPerson } from '../questions/answer-kinds.ts';
import { cutText } from '../text/cut-text.ts';

/**
 * Describes the end of a task that was abandoned. The planner can give up its criteria by the answer of a person.
 *
 * @param told The answer that says so. Undefined where the question was refused.
 */
export function describeAbandoned(
  attempts: number,
  told: Pick<DeliveredAnswer, 'question_id' | 'answered_by'> | undefined,
): { readonly status: 'abandoned'; readonly reason: string } {
  const after = attempts === 0 ? [] : [`after ${attempts} verifications`];
  const reason =
    told !== undefined && isPerson(told.answered_by)
      ? `It was ${[`abandoned by the user's answer to ${told.question_id}`, ...after].join(', ')}.`
      : `It was ${['abandoned', ...after].join(' ')}.`;
  return { status: 'abandoned', reason };
}

/** @param text Task, instructions and feedback. */
export function verificationQuestion(text: string): AskedQuestion {
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      'modify: say next how the task reads from now on; its files and its evidence stay. guide: say next what helps with the task as it is. abandon: the task fails; others go on.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['modify', 'guide', 'abandon'],
    default_answer: 'abandon',
  };
}

export function verificationTextQuestion(
  choice: 'modify' | 'guide',
  { delegation_id, title }: { readonly delegation_id: string; readonly title: string },
): AskedQuestion {
  const task = `${delegation_id} (${title})`;
  return {
    text:
      choice === 'modify'
        ? `What are the new instructions of ${task}?`
        : `What guidance do you give for ${task}?`,
    why_it_matters: 'Its agent begins anew with your words, and its verifier reads them too.',
    priority: 'critical',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
  };
}
