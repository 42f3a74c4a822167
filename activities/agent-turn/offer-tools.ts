import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import type { TranscriptNode } from '../../contracts/transcript.ts';
import type { Stage } from '../stages/stage.ts';
import { stages } from '../stages/stages.ts';
import { isMcpGrant } from '../tools/mcp/expand-grants.ts';
import { listPlannerTools, type Tool, type ToolRegistry } from '../tools/tool.ts';
import type { AgentTurnDeps } from './deps.ts';
import { readAgents, readPlan } from '../artifacts/read-artifact.ts';

/** Returns the names of the tools that an agent may call: the grant of its file. */
export function toolsGranted(
  registry: ToolRegistry,
  { agent_id, allowed_tools }: AgentDefinition,
): readonly string[] {
  return agent_id === plannerAgentId ? listPlannerTools(registry) : allowed_tools;
}

/** Effect that the tools of a stage must have; absent where the effect does not matter. */
const effects: Readonly<Partial<Record<Stage['tools'], Tool['effect']>>> = {
  reading: 'read',
  research: 'research',
};

/** Returns the effect that tools must have to be offered. A member of a triad that judges changes nothing. */
function effectOffered(
  tools: Stage['tools'],
  { reading }: Pick<ModelTurnInput, 'reading'>,
): Tool['effect'] | undefined {
  return tools === 'granted' && reading?.acts === false ? 'read' : effects[tools];
}

/**
 * Names the tools that a conversation offers, by the rule of its stage. Those of a wave are all that its agents may call, in
 * one order, because the tools come first of all in what the provider caches. A call of one outside the agent's grant gets
 * an error instead. Tools of MCP servers are offered only to agents that are granted them, because strangers wrote their
 * descriptions.
 *
 * A member of a triad is offered its agent's own and no others: with the state tools of its role, which come besides, its
 * prefix is that of its role anyway. Members of one role, agent and model in one phase have the same.
 *
 * They are settled when the conversation begins and stand in its first node.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function offerTools(
  { store, tools: registry }: Pick<AgentTurnDeps, 'store' | 'tools'>,
  input: ModelTurnInput,
  nodes: readonly TranscriptNode[],
  allowedTools: readonly string[],
): Promise<readonly string[]> {
  const { tools } = stages[input.stage];
  if (tools === 'planner') return listPlannerTools(registry);
  if (tools === 'none') return [];
  const settled = nodes.find((node) => node.tools !== undefined)?.tools;
  if (settled !== undefined) return settled;
  const begins = input.append.find((one) => one.type === 'prompt')?.prompt;
  const only = effectOffered(tools, input);
  if (only !== undefined) return allowedTools.filter((name) => registry.get(name)?.effect === only);
  if (tools !== 'wave' || begins === undefined || !('plan_ref' in begins)) return allowedTools;
  if (begins.plan_ref === null) return allowedTools;
  const [plan, agents] = await Promise.all([
    readPlan(store, begins.plan_ref),
    readAgents(store, input.registry_ref),
  ]);
  const atWork = new Set(plan.delegations.map((delegation) => delegation.agent_id));
  const names = agents
    .filter((agent) => atWork.has(agent.agent_id))
    .flatMap((agent) => agent.allowed_tools)
    .filter((name) => !isMcpGrant(name) || allowedTools.includes(name));
  return [...new Set(names)].toSorted();
}
