/**
 * Fingerprints a task of a leader, so that a repetition is recognised (seed 002, case 10.2).
 *
 * Invariants:
 *   FT1. Executor, text and inputs change the fingerprint; the order and repetition of inputs do not.
 */
import { hashText } from '../text/hash-text.ts';

/** @param inputs delegation_ids whose results the task gets. */
export function fingerprintTask(
  executor: string,
  taskHash: string,
  inputs: readonly string[],
): string {
  return hashText(JSON.stringify([executor, taskHash, [...new Set(inputs)].toSorted()]));
}
