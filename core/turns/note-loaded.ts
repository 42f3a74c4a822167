/**
 * Records every detail that a delegation loaded, so that the basis of its work can be looked up later.
 *
 * Invariants:
 *   LD1. The list holds each detail once, in the order of the first loading, and never more than `loadedDetailsMax`.
 *   LD2. The list is complete as long as the calls of each reply load no more than its share. Conversations that work at
 *        the same time get shares only while half of the list is free, and all shares together fit into the other half.
 */
import { engineLimits } from '../limits.ts';

/**
 * Computes how many details the calls of the next reply may load together.
 *
 * @param atOnce Number of conversations that add to the list at the same time.
 */
export function countLoadsLeft(loaded: readonly string[], atOnce = 1): number {
  const { loadedDetailsMax: max } = engineLimits;
  const share = atOnce === 1 ? max - loaded.length : Math.floor((max / 2 - loaded.length) / atOnce);
  return Math.max(0, share);
}

export function noteLoaded(loaded: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...loaded, ...more])].slice(0, engineLimits.loadedDetailsMax);
}
