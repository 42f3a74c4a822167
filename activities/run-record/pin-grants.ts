import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ListedTools, McpServers, PinnedTool } from '../ports/mcp-servers.ts';
import { expandGrants, isMcpGrant, serverOfGrant } from '../tools/mcp/expand-grants.ts';
import type { InputFault } from './describe-input-issues.ts';

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
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
