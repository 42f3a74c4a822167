import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import { onlyLeads } from '../../core/team/summarise-teams.ts';
import { listNames } from '../../core/text/list-names.ts';
import { AgentFilesInvalid } from '../ports/agent-source.ts';
import type { RecordDeps } from './deps.ts';
import type { InputFault } from './describe-input-issues.ts';

export interface LoadedRegistry {
  /** Sorted by agent_id. Empty when there are faults. */
  readonly agents: readonly AgentDefinition[];
  readonly faults: readonly InputFault[];
}

/**
 * The agents of a run, checked: faulty files with their line, tools that do not exist, no planner.
 *
 * @param hasWorkspace False for a run that names no workspace: its agents have none of the tools for one.
 */
export async function loadRegistry(
  deps: Pick<RecordDeps, 'agents' | 'toolNames' | 'workspaceTools'>,
  agentsDir: string | null,
  hasWorkspace: boolean,
): Promise<LoadedRegistry> {
  const { agents: sourceOf, toolNames, workspaceTools } = deps;
  let agents: readonly AgentDefinition[];
  try {
    agents = await sourceOf(agentsDir).load();
  } catch (error) {
    if (!(error instanceof AgentFilesInvalid)) throw error;
    const faults = error.faults.map(({ file, line, reason }) => ({
      path: `${file}:${line}`,
      reason,
    }));
    return { agents: [], faults };
  }
  const faults = [...findUnknownTools(agents, toolNames), ...findNoPlanner(agents)];
  if (faults.length > 0) return { agents: [], faults };
  return { agents: hasWorkspace ? agents : withoutTools(agents, workspaceTools), faults };
}

/** Returns the agents without these tools, so that no prompt names what the run does not have. */
export function withoutTools(
  agents: readonly AgentDefinition[],
  tools: readonly string[],
): readonly AgentDefinition[] {
  return agents.map((agent) => ({
    ...agent,
    allowed_tools: agent.allowed_tools.filter((tool) => !tools.includes(tool)),
  }));
}

function findUnknownTools(
  agents: readonly AgentDefinition[],
  toolNames: readonly string[],
): readonly InputFault[] {
  return agents.flatMap(({ agent_id, allowed_tools }) =>
    allowed_tools
      .filter((tool) => !toolNames.includes(tool))
      .map((tool) => ({
        path: `agent ${agent_id}`,
        reason: `it may use the tool ${listNames([tool])}, which does not exist. Tools are: ${listNames(toolNames)}`,
      })),
  );
}

function findNoPlanner(agents: readonly AgentDefinition[]): readonly InputFault[] {
  if (agents.some((agent) => agent.agent_id === plannerAgentId)) return [];
  const known = listNames(agents.map((agent) => agent.agent_id));
  return [{ path: 'agents', reason: `expected an agent "${plannerAgentId}". There are: ${known}` }];
}

export function summariseAgent(agent: AgentDefinition): AgentSummary {
  const { agent_id, allowed_tools, risk_level } = agent;
  return { agent_id, allowed_tools, risk_level, ...(onlyLeads(agent) && { only_leads: true }) };
}
