import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationStatusView, DelegationView } from '../../contracts/views.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { describeWait } from '../../core/schedule/decide-gate.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { toPlanned } from '../shared/progress-of.ts';
import type { WaveSite } from './wave-site.ts';

/** Shows the delegations of a wave as the schedule sees them, each with where it works. */
export function viewDelegations(
  schedule: Schedule<DelegationOutline>,
  { waveId, children }: Pick<WaveSite, 'waveId' | 'children'>,
  statuses: ReadonlyMap<string, DelegationStatusView>,
): DelegationView[] {
  return schedule.entries.map((entry) => {
    const { delegation_id } = entry;
    const isChild = children.has(delegation_id);
    const { turn, verification } = (isChild ? null : statuses.get(delegation_id)) ?? {};
    return {
      ...toPlanned(entry),
      state: entry.state,
      reason: describeWait(entry, schedule),
      ...(turn !== undefined && { turn }),
      ...(verification !== undefined && { verification }),
      workflow_id: isChild ? delegationWorkflowId(waveId, delegation_id) : waveId,
    };
  });
}
