/** Checks that the planner's statements about user input agree with each other. */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { checkAskedQuestions } from './check-asked-questions.ts';

export function checkUserQuestions(asks: {
  readonly needs_user_input: boolean;
  readonly user_questions: readonly AskedQuestion[];
}): OutputFault[] {
  const { needs_user_input: needed, user_questions: questions } = asks;
  const faults = checkAskedQuestions(questions, 'user_questions');
  if (needed && questions.length === 0) {
    faults.unshift({
      path: 'user_questions',
      reason: 'needs_user_input is true but there is no question',
      hint: 'Try: add the question, or set needs_user_input to false',
    });
  }
  if (!needed && questions.length > 0) {
    faults.unshift({
      path: 'needs_user_input',
      reason: `needs_user_input is false but there are ${questions.length} user_questions`,
      hint: 'Try: true if they are critical, else an empty list of user_questions',
    });
  }
  return faults;
}
