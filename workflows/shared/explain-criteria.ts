import type { DelegationOutcome } from '../../contracts/delegation-run.ts';

/** Maps criterion_ids to the reasons why they are not met: the last ones of the delegations that tried. */
export function explainCriteria(outcomes: readonly DelegationOutcome[]): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { delegation_id, reason, criteria_unmet } of outcomes) {
    if (reason === '') continue;
    for (const id of criteria_unmet) reasons.set(id, `${delegation_id}: ${reason}`);
  }
  return reasons;
}
