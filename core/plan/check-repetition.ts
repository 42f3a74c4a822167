/** Checks whether a plan repeats work that had no result (seed 004 §8). */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

/**
 * @param fingerprints Number of dispatches of each in earlier waves. Repetition inside the plan counts too.
 * @param stale Delegations that may be redone: they start from other inputs, though under the same names.
 */
export function checkRepetition(
  delegations: readonly DelegationOutline[],
  fingerprints: Readonly<Record<string, number>>,
  stale: readonly string[],
): OutputFault[] {
  const times = new Map(Object.entries(fingerprints));
  const max = engineLimits.sameFingerprintMax;
  return delegations.flatMap((delegation, i) => {
    const before = times.get(delegation.fingerprint) ?? 0;
    times.set(delegation.fingerprint, before + 1);
    const isRedone = delegation.redoes !== undefined && stale.includes(delegation.redoes);
    if (before < max || isRedone) return [];
    return [
      {
        path: `delegations[${i}]`,
        reason: `the same agent with the same task, inputs and criteria ran ${before === 2 ? 'twice' : `${before} times`} without result`,
        hint: 'Try: a task that says what is to be done otherwise, another agent, other inputs, smaller criteria, or a question to the user',
      },
    ];
  });
}

/**
 * Checks what a plan does again: only what is stale, because anything else would give the same once more.
 *
 * @param stale delegation_ids that may be done again.
 */
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
