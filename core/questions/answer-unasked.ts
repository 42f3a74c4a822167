/**
 * Answers a question the moment it is asked, when the run's input allows that.
 *
 * Invariants:
 *   AU1. With `use_defaults` a question that has a default is answered with it.
 *   AU2. With autonomy "assume" a question of the planner or an agent that is not critical becomes an assumption: its
 *        default, or the most careful one. A critical one is put to the user.
 *   AU3. A question of the engine is never assumed.
 */
import { answererNames } from '../../contracts/names.ts';
import type { Autonomy } from '../../contracts/question-rules.ts';
import type { Question } from '../../contracts/question.ts';
import { parseDefault } from './check-answer.ts';
import type { AnswerRule } from './check-answer.ts';

/** Answer to the asker when there is no default to assume. */
export const noDefaultAnswer =
  'None given: take the most careful assumption, and name it in assumptions_made.';

export interface UnaskedAnswer {
  readonly text: string;
  readonly answered_by: string;
  /** Sources that the planner took it from. */
  readonly source_refs?: readonly string[];
}

/** @returns null when the question waits for an answer. */
export function answerUnasked(
  question: AnswerRule & Pick<Question, 'kind' | 'priority'>,
  run: { readonly use_defaults: boolean; readonly autonomy: Autonomy },
): UnaskedAnswer | null {
  const parsed = parseDefault(question);
  const fallback = parsed?.ok === true ? parsed.text : null;
  if (run.autonomy === 'assume' && isAssumable(question)) {
    return { text: fallback ?? noDefaultAnswer, answered_by: answererNames.assumption };
  }
  return run.use_defaults && fallback !== null
    ? { text: fallback, answered_by: answererNames.default }
    : null;
}

function isAssumable({ kind, priority }: Pick<Question, 'kind' | 'priority'>): boolean {
  const isModels = kind === 'blocking' || kind === 'planner' || kind === 'design';
  return isModels && priority !== 'critical';
}
