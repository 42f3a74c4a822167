import type { DelegationOutcome } from '../../contracts/delegation-run.ts';

/** Why criteria are not met, by criterion_id: the last word of those who tried. */
export function explainCriteria(outcomes: readonly DelegationOutcome[]): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { delegation_id, reason, criteria_unmet } of outcomes) {
    if (reason === '') continue;
    for (const id of criteria_unmet) reasons.set(id, `${delegation_id}: ${reason}`);
  }
  return reasons;
}
