import type { DelegationView } from '../../contracts/views.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { viewDispatch } from '../../core/dispatch/view-dispatch.ts';
import type { DispatchState } from '../../core/dispatch/step-dispatch.ts';
import { delegationWorkflowId } from '../../core/ids.ts';

/** The delegations of a plan as the dispatch sees them, for people. */
export function viewDelegations(
  plan: WavePlanOutline,
  state: DispatchState,
  waveId: string,
): DelegationView[] {
  const lines = new Map(viewDispatch(state).map((line) => [line.delegation_id, line]));
  return plan.delegations.map(({ delegation_id, agent_id, title, depends_on }) => ({
    delegation_id,
    agent_id,
    title,
    depends_on,
    state: lines.get(delegation_id)?.state ?? 'pending',
    reason: lines.get(delegation_id)?.reason ?? '',
    workflow_id: delegationWorkflowId(waveId, delegation_id),
  }));
}
