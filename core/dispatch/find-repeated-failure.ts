/**
 * The same failure again and again: what fails three siblings will fail the fourth, and costs each time.
 *
 * Invariants:
 *   RF1. Only failures count, and only those that say the same but for numbers and the delegation's own name.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import { engineLimits } from '../limits.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';

type Failed = Pick<DelegationOutcome, 'delegation_id' | 'status' | 'reason'>;

/** @returns why the rest of the wave is not started, or null. */
export function findRepeatedFailure(outcomes: readonly Failed[]): string | null {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    if (outcome.status !== 'failed') continue;
    const key = failureKey(outcome);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count >= engineLimits.sameFailureMax) {
      return `${count} delegations failed for the same reason: ${cutText(outcome.reason, 500)}`;
    }
  }
  return null;
}

function failureKey({ delegation_id, reason }: Failed): string {
  return normaliseText(reason.replaceAll(delegation_id, '')).replaceAll(/\d+/g, '#');
}
