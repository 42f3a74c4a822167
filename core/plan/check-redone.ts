/**
 * Checks what a plan does again: only what is stale, because anything else would give the same once more.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/** @param stale delegation_ids that may be done again. */
export function checkRedone(
  delegations: readonly DelegationOutline[],
  stale: readonly string[],
): OutputFault[] {
  return delegations.flatMap(({ redoes }, i) => {
    if (redoes === undefined) return [];
    const path = `delegations[${i}].redoes`;
    const before = delegations.findIndex((one) => one.redoes === redoes);
    if (!stale.includes(redoes)) {
      const reason = `"${cutText(redoes, 60)}" is not stale, so it is not done again`;
      return [{ path, reason, hint: `Try: leave it out. Stale delegations: ${listNames(stale)}` }];
    }
    if (before === i) return [];
    const reason = `"${redoes}" is done again by delegations[${before}] already`;
    return [{ path, reason, hint: 'Try: one delegation for each that is done again' }];
  });
}
