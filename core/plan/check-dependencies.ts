/**
 * Checks of a plan's dependencies: that they exist, and that they have an order.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { findCycle } from '../schedule/dependencies.ts';

/** @param earlierIds delegation_ids of earlier waves. */
export function checkDependencies(
  delegations: readonly DelegationOutline[],
  earlierIds: readonly string[],
): OutputFault[] {
  const ids = delegations.map((d) => d.delegation_id);
  const faults = delegations.flatMap((delegation, i) =>
    delegation.depends_on.flatMap((id, j) => {
      const fault = checkDependency(id, delegation.delegation_id, { ids, earlierIds });
      return fault === null ? [] : [{ path: `delegations[${i}].depends_on[${j}]`, ...fault }];
    }),
  );
  return [...faults, ...checkCycle(delegations)];
}

function checkDependency(
  id: string,
  self: string,
  known: { readonly ids: readonly string[]; readonly earlierIds: readonly string[] },
): Omit<OutputFault, 'path'> | null {
  if (id === self) return { reason: `"${id}" depends on itself`, hint: 'Try: leave it out' };
  if (known.ids.includes(id)) return null;
  if (known.earlierIds.includes(id)) {
    return {
      reason: `"${id}" is a delegation of an earlier wave`,
      hint: `Try: leave it out of depends_on, and list "${id}" in required_inputs and provided_inputs if its output is needed and known`,
    };
  }
  const others = known.ids.filter((other) => other !== self);
  return {
    reason: `there is no delegation "${cutText(id, 60)}" in this plan`,
    hint: `Try: one of ${listNames(others)}, or leave it out`,
  };
}

/** Self-dependencies have a fault of their own. */
function checkCycle(delegations: readonly DelegationOutline[]): OutputFault[] {
  const edges = new Map(
    delegations.map((d) => [d.delegation_id, d.depends_on.filter((id) => id !== d.delegation_id)]),
  );
  const cycle = findCycle(edges);
  if (cycle === null) return [];
  const index = delegations.findIndex((d) => d.delegation_id === cycle[0]);
  return [
    {
      path: `delegations[${index}].depends_on`,
      reason: `the dependencies form a cycle: ${cycle.join('→')}`,
      hint: 'Try: remove one of these dependencies, or merge the delegations',
    },
  ];
}
