/**
 * Which answers say something about the work.
 *
 * Invariants:
 *   IW1. What a model asked to do its work becomes a fact and is shown to others; what decides how the run goes on is not.
 */
import type { QuestionKind } from '../../contracts/question.ts';

/** @param kind If undefined, nobody knows: then the answer is shown rather than lost. */
export function informsWork(kind: QuestionKind | undefined): boolean {
  return kind === undefined || kind === 'blocking' || kind === 'planner';
}
