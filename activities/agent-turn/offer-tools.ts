import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import type { TranscriptNode } from '../../contracts/transcript.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readAgents, readShape } from '../tools/read-artifact.ts';

/**
 * Names of the tools that a conversation offers: all that the agents of its wave may call, in one order, because the
 * tools come first of all in what the provider caches. Who calls one outside its grant gets an error instead.
 *
 * A member of a triad is offered its agent's own and no others: with the state tools of its role, which come besides, its
 * prefix is that of its role anyway. Members of one role, agent and model in one phase have the same.
 *
 * They are settled when the conversation begins and stand in its first node; a conversation of an older engine has them
 * not, and offers the agent's own. The planner has none, and who writes code neither.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function offerTools(
  store: ArtifactStore,
  input: ModelTurnInput,
  nodes: readonly TranscriptNode[],
  allowedTools: readonly string[],
): Promise<readonly string[]> {
  if (input.shape !== 'agent_output' && input.shape !== 'member_turn') return [];
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
