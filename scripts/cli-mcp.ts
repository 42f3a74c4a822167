import type { AgentDefinition } from '../contracts/agent-definition.ts';
import type { McpServer, McpServers } from '../activities/ports/mcp-servers.ts';
import { expandGrants, isMcpGrant, serverOfGrant } from '../activities/tools/mcp/expand-grants.ts';
import type {
  CheckedMcpServer,
  CliMcp,
  ListedMcp,
  ListedMcpServer,
} from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { openMcp } from '../worker/open-mcp.ts';
import { BadSettings, readToolSettings } from '../worker/worker-settings.ts';
import { openCliAgents } from './cli-agents.ts';
import { messageOf } from '../core/text/message-of.ts';

/** Reads and tries the MCP servers of this environment for the command line. The worker may have others. */
export function createCliMcp(env: NodeJS.ProcessEnv): CliMcp {
  return {
    list: (agentsDir) =>
      use(env, async ({ servers }) => listServers(servers, await loadAgents(env, agentsDir))),
    check: (agentsDir, name) =>
      use(env, async (mcp) => {
        const agents = await loadAgents(env, agentsDir);
        const { servers } = listServers(mcp.servers, agents);
        const wanted = servers.filter((server) => name === null || server.name === name);
        return Promise.all(wanted.map((server) => checkServer(mcp, server, agents)));
      }),
  };
}

/** Runs some work with the servers, and ends those that it started. */
async function use<T>(env: NodeJS.ProcessEnv, work: (mcp: McpServers) => Promise<T>): Promise<T> {
  let mcp: McpServers;
  try {
    mcp = openMcp(readToolSettings(env).mcpFiles, env);
  } catch (error) {
    throw error instanceof BadSettings ? badInput(error.message) : error;
  }
  try {
    return await work(mcp);
  } finally {
    await mcp.close();
  }
}

async function loadAgents(
  env: NodeJS.ProcessEnv,
  dir: string | null,
): Promise<readonly AgentDefinition[]> {
  const { agents, faults } = await (await openCliAgents(env)).load(dir);
  if (faults.length === 0) return agents;
  throw badInput(faults.map(({ path, reason }) => `${path}: ${reason}`).join('\n'));
}

function listServers(
  servers: ReadonlyMap<string, McpServer>,
  agents: readonly AgentDefinition[],
): ListedMcp {
  const grants = agents.flatMap(({ agent_id, allowed_tools }) =>
    allowed_tools.filter(isMcpGrant).map((grant) => ({ agent: agent_id, grant })),
  );
  return {
    servers: [...servers.values()].map((server) => describeServer(server, grants)),
    unknown: grants.filter(({ grant }) => !servers.has(serverOfGrant(grant) ?? '')),
  };
}

function describeServer(
  { name, file, transport, trusted }: McpServer,
  grants: ListedMcp['unknown'],
): ListedMcpServer {
  const granted = grants.filter(({ grant }) => serverOfGrant(grant) === name);
  return {
    name,
    file,
    transport: transport.type,
    where: transport.type === 'stdio' ? transport.command : addressOf(transport.url),
    trusted,
    sandboxed: transport.type === 'stdio' && transport.sandbox !== null,
    granted_to: [...new Set(granted.map(({ agent }) => agent))],
  };
}

/** Returns an address without its query, which may hold a key. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

async function checkServer(
  mcp: McpServers,
  server: ListedMcpServer,
  agents: readonly AgentDefinition[],
): Promise<CheckedMcpServer> {
  try {
    const { tools, leftOut } = await mcp.list(server.name);
    const granted = agents.map(({ agent_id, allowed_tools }) => ({
      agent_id,
      tools: expandGrants(allowed_tools, tools).tools,
    }));
    return {
      ...server,
      fault: null,
      tools: tools.map(({ name, effect, brings, hash, description }) => ({
        name,
        effect,
        brings,
        hash,
        description,
        granted_to: granted.filter((one) => one.tools.includes(name)).map((one) => one.agent_id),
      })),
      left_out: leftOut,
    };
  } catch (error) {
    return { ...server, fault: messageOf(error), tools: [], left_out: [] };
  }
}
