import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import { checkCoordinationPlan } from '../../core/design/check-plan-file.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readShape } from './read-artifact.ts';

/** @throws {ArtifactCorrupt} when the plan is missing, damaged or of another shape. */
export function readCoordinationPlan(store: ArtifactStore, ref: Ref): Promise<CoordinationPlan> {
  return readShape(store, ref, CoordinationPlan, 'a coordination plan');
}

/** Stores a plan. Its address is the hash that an approval is bound to. */
export async function storeCoordinationPlan(
  store: ArtifactStore,
  plan: CoordinationPlan,
): Promise<PlanOutline> {
  return {
    plan_ref: await store.put(JSON.stringify(plan)),
    agents: plan.agents.map(({ agent_name, agent_id, role }) => ({ agent_name, agent_id, role })),
    tasks: plan.tasks.length,
    proofs_of_concept: plan.tasks.filter((task) => task.proof_of_concept !== null).length,
  };
}

/** Finds the faults of a plan in a run with these agents and tools. */
export function findPlanFaults(
  plan: CoordinationPlan,
  agents: readonly AgentSummary[],
  toolNames: readonly string[],
): readonly PlanFinding[] {
  const unknown = plan.new_agents.flatMap(({ agent_id, tools }, at) =>
    tools
      .filter((tool) => !toolNames.includes(tool))
      .map((tool) => ({
        rule: 'tools',
        path: `new_agents/${at}/tools`,
        message: `"${agent_id}" may use "${tool}", which does not exist`,
        cure: `Name one of ${listNames(toolNames)}, or leave it out`,
      })),
  );
  return [...checkCoordinationPlan(plan, { agents }), ...unknown];
}
