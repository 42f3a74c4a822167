import type { WaveProgress } from '../../contracts/messages.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** What a run shows of a plan. */
export function progressOf(wave: number, plan: WavePlanOutline, usage: Usage): WaveProgress {
  return {
    wave,
    plan_ref: plan.plan_ref,
    summary: plan.summary,
    delegations: plan.delegations.map(({ delegation_id, agent_id, title, depends_on }) => ({
      delegation_id,
      agent_id,
      title,
      depends_on,
    })),
    criterion_ids: [...new Set(plan.delegations.flatMap((delegation) => delegation.criterion_ids))],
    usage,
  };
}
