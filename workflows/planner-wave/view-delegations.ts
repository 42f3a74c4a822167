import type { DelegationStatusView, DelegationView } from '../../contracts/views.ts';
import { viewDispatch } from '../../core/dispatch/view-dispatch.ts';
import type { DispatchState } from '../../core/dispatch/step-dispatch.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { toPlanned } from '../shared/progress-of.ts';
import type { WaveSite } from './run-delegation.ts';

/** Returns the delegations of a plan as the dispatch sees them, for people. */
export function viewDelegations(
  {
    plan,
    state,
    waveId,
    children,
  }: Pick<WaveSite, 'plan' | 'waveId' | 'children'> & {
    readonly state: DispatchState;
  },
  statuses: ReadonlyMap<string, DelegationStatusView>,
): DelegationView[] {
  const lines = new Map(viewDispatch(state).map((line) => [line.delegation_id, line]));
  return plan.delegations.map((delegation) => {
    const { delegation_id } = delegation;
    const line = lines.get(delegation_id);
    const isChild = children.has(delegation_id);
    const turn = isChild ? undefined : statuses.get(delegation_id)?.turn;
    return {
      ...toPlanned(delegation),
      state: line?.state ?? 'pending',
      reason: line?.reason ?? '',
      ...(turn !== undefined && { turn }),
      workflow_id: isChild ? delegationWorkflowId(waveId, delegation_id) : waveId,
    };
  });
}
