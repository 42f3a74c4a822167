import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import type { TranscriptNode } from '../../contracts/transcript.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { stages } from '../stages/stages.ts';
import { loadDetailName } from '../tools/load-detail.ts';
import { readAgents, readShape } from '../artifacts/read-artifact.ts';

/** What the planner may call while it decides on a wave, whatever its file says: it never does the work itself. */
const plannerTools = [loadDetailName];

/** What an agent may call: the grant of its file. */
export function toolsGranted({ agent_id, allowed_tools }: AgentDefinition): readonly string[] {
  return agent_id === plannerAgentId ? plannerTools : allowed_tools;
}

/**
 * Names of the tools that a conversation offers: all that the agents of its wave may call, in one order, because the
 * tools come first of all in what the provider caches. Who calls one outside its grant gets an error instead.
 *
 * A member of a triad is offered its agent's own and no others: with the state tools of its role, which come besides, its
 * prefix is that of its role anyway. Members of one role, agent and model in one phase have the same.
 *
 * They are settled when the conversation begins and stand in its first node; a conversation of an older engine has them
 * not, and offers the agent's own. The planner has some in decisions only, and who writes code none.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function offerTools(
  store: ArtifactStore,
  input: ModelTurnInput,
  nodes: readonly TranscriptNode[],
  allowedTools: readonly string[],
): Promise<readonly string[]> {
  const { tools } = stages[input.stage];
  if (tools === 'planner') return plannerTools;
  if (tools === 'none') return [];
  const settled = nodes.find((node) => node.tools !== undefined)?.tools;
  if (settled !== undefined) return settled;
  const begins = input.append.find((one) => one.type === 'prompt')?.prompt;
  if (begins?.kind !== 'delegation') return allowedTools;
  const [plan, registry] = await Promise.all([
    readShape(store, begins.plan_ref, StoredPlan, 'a wave plan'),
    readAgents(store, input.registry_ref),
  ]);
  const atWork = new Set(plan.delegations.map((delegation) => delegation.agent_id));
  const names = registry
    .filter((agent) => atWork.has(agent.agent_id))
    .flatMap((agent) => agent.allowed_tools);
  return [...new Set(names)].toSorted();
}
