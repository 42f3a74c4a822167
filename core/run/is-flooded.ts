/**
 * Number of signals after which a run continues as new.
 *
 * Invariants:
 *   FL1. The server refuses signals to an execution that has taken its limit, those of the run's own children too. A run
 *        whose execution has taken `max_signals` begins another one before that, and ends the wave at work for it.
 */
import type { RunLimits } from '../../contracts/limits.ts';

/** @param limits Null before the input was read. */
export function isFlooded(signals: number, limits: Pick<RunLimits, 'max_signals'> | null): boolean {
  // Histories of older versions have no such limit.
  return limits !== null && signals >= (limits.max_signals ?? Infinity);
}
