import type { Delegation } from '../../contracts/delegation.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';

/** What was planned of a delegation. A miss is a fault of the caller, who has to name the plan that has it. */
export function findPlanned(delegationId: string, { delegations }: WavePlan): Delegation {
  const planned = delegations.find((one) => one.delegation_id === delegationId);
  if (planned !== undefined) return planned;
  throw new Error(`The plan has no delegation "${delegationId}".`);
}
