/** Words the questions that the user is asked when verifications fail. */
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

/** @param text Task, instructions and feedback. */
export function verificationQuestion(text: string): AskedQuestion {
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      'modify: say next how the task reads from now on. guide: say next what helps with the task as it is. abandon: the task fails; others go on.',
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
