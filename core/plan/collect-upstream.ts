/**
 * Whose outputs a delegation may require: everything it depends on, directly or through others.
 *
 * Invariants:
 *   UP1. Each delegation that can be reached is there once, in the order of the map; the delegation itself is not.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';

type Linked = Pick<DelegationOutline, 'delegation_id' | 'depends_on'>;

/** @param byId All delegations of the plan. Names that are not in it lead nowhere, and cycles end. */
export function collectUpstream<D extends Linked>(
  delegation: Linked,
  byId: ReadonlyMap<string, D>,
): D[] {
  const seen = new Set<string>();
  const queue = [...delegation.depends_on];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id) || id === delegation.delegation_id) continue;
    seen.add(id);
    queue.push(...(byId.get(id)?.depends_on ?? []));
  }
  return [...byId.values()].filter((other) => seen.has(other.delegation_id));
}
