/** Checks whether a plan repeats work that had no result (seed 004 §8). */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';

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
