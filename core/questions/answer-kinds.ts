import { answererNames, assumingAnswerers, chatAnswerer } from '../../contracts/names.ts';
import type { QuestionKind } from '../../contracts/question.ts';

const nobody: readonly string[] = [
  ...assumingAnswerers,
  answererNames.planner,
  answererNames.architect,
  answererNames.engine,
  chatAnswerer,
];

/** Returns true for an answer that a person signed: no default, no assumption, not the planner, not the engine and no chat client's model. */
export function isPerson(answeredBy: string): boolean {
  return !nobody.includes(answeredBy);
}

/**
 * Selects the answers that are about the work.
 *
 * Invariants:
 *   IW1. The answer to a model's question about its work becomes a fact and is shown to others; a decision on how the
 *        run continues is neither.
 */

/** @param kind Undefined when unknown: then the answer is shown rather than lost. */
export function informsWork(kind: QuestionKind | undefined): boolean {
  return kind === undefined || kind === 'blocking' || kind === 'planner' || kind === 'design';
}
