/**
 * Collects the delegations whose outputs a delegation may require: all its dependencies, direct and indirect.
 *
 * Invariants:
 *   UP1. Each reachable delegation is listed once, in the order of the map; the delegation itself is not.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';

type Linked = Pick<DelegationOutline, 'delegation_id' | 'depends_on'>;

/** @param byId All delegations of the plan. Unknown names lead nowhere, and cycles end. */
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
