/**
 * Checks that questions can be put to a person as they are.
 *
 * Invariants:
 *   AQ1. A choice offers at least two different answers, none of them blank.
 *   AQ2. A default is an answer that the question itself would accept.
 *   AQ3. No fact_key is blank.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { normaliseKey } from '../pool/admit-facts.ts';
import { parseDefault } from './check-answer.ts';

/** @param path Path of the list: `user_questions`. */
export function checkAskedQuestions(
  questions: readonly AskedQuestion[],
  path: string,
): OutputFault[] {
  return questions.flatMap((question, i) => checkAskedQuestion(question, `${path}[${i}]`));
}

function checkAskedQuestion(question: AskedQuestion, path: string): OutputFault[] {
  const faults: OutputFault[] = [];
  if (question.text.trim() === '') {
    faults.push({
      path: `${path}.text`,
      reason: 'the question is blank',
      hint: 'Try: a question that can be understood without other context',
    });
  }
  if (question.fact_key !== undefined && normaliseKey(question.fact_key) === null) {
    faults.push({
      path: `${path}.fact_key`,
      reason: 'the key is blank',
      hint: 'Try: the key of the fact that the answer settles, or no fact_key',
    });
  }
  if (question.expected_answer_format === 'choice' && countChoices(question.choices) < 2) {
    faults.push({
      path: `${path}.choices`,
      reason: 'a "choice" needs at least two different choices, none of them blank',
      hint: 'Try: list two or more choices, or use another expected_answer_format',
    });
    return faults;
  }
  const parsed = parseDefault(question);
  if (parsed !== null && !parsed.ok) {
    faults.push({
      path: `${path}.default_answer`,
      reason: `the default is no answer that this question takes: ${parsed.reason}`,
      hint: `Try: ${parsed.example === null ? '' : `${JSON.stringify(toDefault(parsed.example))}, or `}null when there is no default`,
    });
  }
  return faults;
}

function countChoices(choices: readonly string[]): number {
  if (choices.some((choice) => choice.trim() === '')) return 0;
  return new Set(choices).size;
}

/** Converts an example to a default, which is text in every format. */
function toDefault(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}

/** Checks that the planner's statements about user input agree with each other. */

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
