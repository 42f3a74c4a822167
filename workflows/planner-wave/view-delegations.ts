import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationView } from '../../contracts/views.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { describeWait } from '../../core/schedule/decide-gate.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { toPlanned } from '../shared/progress-of.ts';

/** Shows the delegations of a wave as the schedule sees them. */
export function viewDelegations(
  schedule: Schedule<DelegationOutline>,
  waveId: string,
): DelegationView[] {
  return schedule.entries.map((entry) => ({
    ...toPlanned(entry),
    state: entry.state,
    reason: describeWait(entry, schedule),
    workflow_id: delegationWorkflowId(waveId, entry.delegation_id),
  }));
}
