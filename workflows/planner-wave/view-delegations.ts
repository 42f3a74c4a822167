import type { DelegationView } from '../../contracts/views.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { viewDispatch } from '../../core/dispatch/view-dispatch.ts';
import type { DispatchState } from '../../core/dispatch/step-dispatch.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { toPlanned } from '../shared/progress-of.ts';

/** The delegations of a plan as the dispatch sees them, for people. */
export function viewDelegations(
  plan: WavePlanOutline,
  state: DispatchState,
  waveId: string,
): DelegationView[] {
  const lines = new Map(viewDispatch(state).map((line) => [line.delegation_id, line]));
  return plan.delegations.map((delegation) => {
    const line = lines.get(delegation.delegation_id);
    return {
      ...toPlanned(delegation),
      state: line?.state ?? 'pending',
      reason: line?.reason ?? '',
      workflow_id: delegationWorkflowId(waveId, delegation.delegation_id),
    };
  });
}
