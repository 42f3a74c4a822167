import type { PlannedDelegation, WaveProgress } from '../../contracts/messages.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { Usage } from '../../contracts/usage.ts';
import { isOfRun } from '../../core/criteria/criteria.ts';
import { planExecutor } from '../../core/executor.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** Returns the progress message that shows a plan. */
export function progressOf(wave: number, plan: WavePlanOutline, usage: Usage): WaveProgress {
  return {
    wave,
    plan_ref: plan.plan_ref,
    summary: plan.summary,
    delegations: plan.delegations.map(toPlanned),
    criterion_ids: [
      ...new Set(plan.delegations.filter(isOfRun).flatMap((one) => one.criterion_ids)),
    ],
    usage,
  };
}

/** Returns the visible part of a delegation before it ends. */
export function toPlanned({
  delegation_id,
  agent_id,
  title,
  depends_on,
  executor,
  rule_of_two,
}: DelegationOutline): PlannedDelegation {
  return {
    delegation_id,
    agent_id,
    title,
    depends_on,
    executor: planExecutor(executor),
    ...(rule_of_two !== undefined && { rule_of_two }),
  };
}
