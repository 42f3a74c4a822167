import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { noUsage } from '../../core/usage/add-usage.ts';

/** Builds the outcome of a delegation that made no call, or of which nothing more is known. */
export function notStarted(
  delegation: DelegationOutline,
  status: DelegationOutcome['status'],
  reason: string,
): DelegationOutcome {
  const { delegation_id, agent_id, title, produces, criterion_ids } = delegation;
  return {
    delegation_id,
    agent_id,
    title,
    status,
    reason,
    criteria_met: [],
    criteria_unmet: criterion_ids,
    produces,
    output_ref: null,
    loaded_details: [],
    turns: 0,
    usage: noUsage,
  };
}
