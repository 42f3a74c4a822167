/**
 * Tells whether two delegations would do the same again.
 *
 * Invariants:
 *   F1. The order and repetition of inputs and criteria do not change the fingerprint; agent, inputs and criteria do.
 *   F2. A triad is another executor than an agent, and than a triad of another type.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { TriadOutline } from '../../contracts/triad.ts';
import { hashText } from '../text/hash-text.ts';

export function fingerprintDelegation(
  d: Pick<DelegationOutline, 'agent_id' | 'required_inputs' | 'criterion_ids'> & {
    readonly triad?: Pick<TriadOutline, 'type'> | undefined;
  },
): string {
  const work = [d.agent_id, sortedSet(d.required_inputs), sortedSet(d.criterion_ids)];
  return hashText(JSON.stringify(d.triad === undefined ? work : [...work, d.triad.type]));
}

/** In the order of code units, which is the same everywhere. */
function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}
