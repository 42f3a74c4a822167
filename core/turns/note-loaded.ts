/**
 * Keeps what a delegation loaded, to the last detail: its record says on what its work rests.
 *
 * Invariants:
 *   LD1. The list holds each detail once, in the order of the first loading, and never more than `loadedDetailsMax`.
 *   LD2. As long as each call loads no more than it was left, nothing is missing from the list: the calls of one turn,
 *        which run at the same time, are left one less each, and so are those of others who work at the same time.
 */
import { engineLimits } from '../limits.ts';

/**
 * Counts the details that each of a turn's `calls` may load, in their order.
 *
 * @param loading Calls of others that are under way.
 */
export function countLoadsLeft(loaded: readonly string[], calls: number, loading = 0): number[] {
  const left = engineLimits.loadedDetailsMax - loaded.length - loading;
  return Array.from({ length: calls }, (_, before) => Math.max(0, left - before));
}

export function noteLoaded(loaded: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...loaded, ...more])].slice(0, engineLimits.loadedDetailsMax);
}
