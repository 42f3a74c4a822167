/**
 * Records every detail that a delegation loaded, so that the basis of its work can be looked up later.
 *
 * Invariants:
 *   LD1. The list holds each detail once, in the order of the first loading, and never more than `loadedDetailsMax`.
 *   LD2. The list is complete as long as each call loads no more than its share: parallel calls of one turn, and of
 *        other conversations, each reduce the share of the next.
 */
import { engineLimits } from '../limits.ts';

/**
 * Computes the number of details that each of a turn's `calls` may load, in their order.
 *
 * @param loading Number of running calls of others.
 */
export function countLoadsLeft(loaded: readonly string[], calls: number, loading = 0): number[] {
  const left = engineLimits.loadedDetailsMax - loaded.length - loading;
  return Array.from({ length: calls }, (_, before) => Math.max(0, left - before));
}

export function noteLoaded(loaded: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...loaded, ...more])].slice(0, engineLimits.loadedDetailsMax);
}
