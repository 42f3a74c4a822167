import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { listNames } from '../../core/text/list-names.ts';
import { bringsOfTools } from '../../core/plan/rule-of-two.ts';
import { internalAgentIds, plannerAgentId } from '../../contracts/names.ts';
import { onlyLeads } from '../../core/team/summarise-teams.ts';
import type { ListedTools, McpServers, PinnedTool } from '../ports/mcp-servers.ts';
import { expandGrants, isMcpGrant, serverOfGrant } from '../tools/mcp/expand-grants.ts';
import { AgentFilesInvalid } from '../ports/agent-source.ts';
import { webResearchName } from '../tools/registry/web-tools.ts';
import type { InputFault } from './describe-input-issues.ts';
import type { RecordDeps } from './deps.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** Agents whose grants name tools, and those tools as their servers describe them now. */
export interface PinnedGrants {
  readonly agents: readonly AgentDefinition[];
  /** Sorted by name, each once. */
  readonly pins: readonly PinnedTool[];
  readonly faults: readonly InputFault[];
}

/** A server's tools, or why it has none. */
type Listing = ListedTools | { readonly failure: string };

/**
 * Asks the servers that agents are granted for their tools. A grant of a server that the worker does not have is left out,
 * as with other tools that only another program has; a server that does not start is a fault.
 *
 * @param onLeftOut Called with words for what was left out.
 */
export async function pinGrants(
  agents: readonly AgentDefinition[],
  mcp: Pick<McpServers, 'servers' | 'list'>,
  onLeftOut: (words: string) => void,
): Promise<PinnedGrants> {
  const known = agents.map((agent) => keepKnown(agent, mcp, onLeftOut));
  const grants = known.flatMap(({ allowed_tools }) => allowed_tools.filter(isMcpGrant));
  const names = [...new Set(grants.flatMap((grant) => serverOfGrant(grant) ?? []))].toSorted();
  const listings = await Promise.all(names.map((name) => listTools(mcp, name)));
  const faults: InputFault[] = listings.flatMap((one, at) =>
    'failure' in one ? [{ path: `MCP server ${names[at]}`, reason: one.failure }] : [],
  );
  if (faults.length > 0) return { agents: known, pins: [], faults };
  const tools = listings.flatMap((one) => ('failure' in one ? [] : one.tools));
  const expanded = known.map((agent) => ({ agent, ...expandGrants(agent.allowed_tools, tools) }));
  const used = new Set(expanded.flatMap((one) => one.tools));
  return {
    agents: expanded.map((one) => ({ ...one.agent, allowed_tools: [...one.tools] })),
    pins: tools.filter(({ name }) => used.has(name)),
    faults: expanded.flatMap((one) =>
      one.faults.map((reason) => ({ path: `agent ${one.agent.agent_id}`, reason })),
    ),
  };
}

function keepKnown(
  agent: AgentDefinition,
  { servers }: Pick<McpServers, 'servers'>,
  onLeftOut: (words: string) => void,
): AgentDefinition {
  const unknown = agent.allowed_tools.filter(
    (grant) => isMcpGrant(grant) && !servers.has(serverOfGrant(grant) ?? ''),
  );
  if (unknown.length === 0) return agent;
  onLeftOut(
    `The agent ${agent.agent_id} goes without ${listNames(unknown)}: this worker has no such MCP server. ` +
      'Try: name the file with the server in PLANWAVE_MCP.',
  );
  const allowed_tools = agent.allowed_tools.filter((grant) => !unknown.includes(grant));
  return { ...agent, allowed_tools };
}

async function listTools(mcp: Pick<McpServers, 'list'>, name: string): Promise<Listing> {
  try {
    return await mcp.list(name);
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

/** `agents` are those that may get delegations, and the planner, sorted by agent_id. Empty when there are faults. */
export interface LoadedRegistry extends PinnedGrants {
  /** Agents of the design group, and the grader. */
  readonly designers: readonly AgentDefinition[];
}

/**
 * The agents of a run, checked: faulty files with their line, tools that do not exist, no planner.
 *
 * @param hasWorkspace False for a run that names no workspace: its agents have none of the tools for one.
 */
export async function loadRegistry(
  deps: Pick<RecordDeps, 'agents' | 'toolNames' | 'workspaceTools' | 'mcp' | 'onLeftOut'>,
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
    return { ...noAgents, faults };
  }
  const faults = [...findUnknownTools(agents, toolNames), ...findNoPlanner(agents)];
  if (faults.length > 0) return { ...noAgents, faults };
  const { others, designers } = partDesigners(agents);
  const able = hasWorkspace ? others : withoutTools(others, workspaceTools);
  const offered = [webResearchName, ...(hasWorkspace ? workspaceTools : [])];
  const group = designers.map((agent) => withOnly(agent, offered));
  if (deps.mcp === undefined) return { agents: able, designers: group, pins: [], faults };
  const pinned = await pinGrants(able, deps.mcp, deps.onLeftOut ?? (() => {}));
  if (pinned.faults.length > 0) return { ...noAgents, faults: pinned.faults };
  return { ...pinned, designers: group };
}

const noAgents = { agents: [], designers: [], pins: [] };

/**
 * Returns an agent of the design group with the tools that a stage of a design may offer: `web_research`, and those of the
 * workspace. The stages offer none that changes anything.
 */
function withOnly(agent: AgentDefinition, offered: readonly string[]): AgentDefinition {
  return { ...agent, allowed_tools: agent.allowed_tools.filter((tool) => offered.includes(tool)) };
}

/** Parts the agents of the design group, and the grader, from the others: they get no delegation. */
export function partDesigners(agents: readonly AgentDefinition[]): {
  readonly others: readonly AgentDefinition[];
  readonly designers: readonly AgentDefinition[];
} {
  const ids = new Set(internalAgentIds);
  return {
    others: agents.filter(({ agent_id }) => !ids.has(agent_id)),
    designers: agents.filter(({ agent_id }) => ids.has(agent_id)),
  };
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
      .filter((tool) => !toolNames.includes(tool) && !isMcpGrant(tool))
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

/** @param properties Those of each tool by its name. Default: none, for rules that do not read them. */
export function summariseAgent(
  agent: AgentDefinition,
  properties: RecordDeps['toolProperties'] = {},
): AgentSummary {
  const { agent_id, allowed_tools, risk_level } = agent;
  const brings = bringsOfTools(allowed_tools, properties);
  return {
    agent_id,
    allowed_tools,
    risk_level,
    ...(onlyLeads(agent) && { only_leads: true }),
    ...(Object.keys(brings).length > 0 && { brings }),
  };
}
