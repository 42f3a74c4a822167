/**
 * Selects the answers that are about the work.
 *
 * Invariants:
 *   IW1. The answer to a model's question about its work becomes a fact and is shown to others; a decision on how the
 *        run continues is neither.
 */
import type { QuestionKind } from '../../contracts/question.ts';

/** @param kind Undefined when unknown: then the answer is shown rather than lost. */
export function informsWork(kind: QuestionKind | undefined): boolean {
  return kind === undefined || kind === 'blocking' || kind === 'planner' || kind === 'design';
}
