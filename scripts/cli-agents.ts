import { basename } from 'node:path';
import { parseAgentFile } from '../activities/adapters/agent-file/parse-agent-file.ts';
import { loadAgents } from '../activities/adapters/agent-files.ts';
import { loadRegistry } from '../activities/run-record/load-registry.ts';
import { isMcpGrant, serverOfGrant } from '../activities/tools/mcp/expand-grants.ts';
import { grantableNames } from '../activities/tools/registry/create-registry.ts';
import type { CliAgents } from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { listNames } from '../core/text/list-names.ts';
import { createAgentsOf } from '../worker/create-input-check.ts';
import { loadTools } from '../worker/load-modules.ts';
import { readMcpServers } from '../worker/open-mcp.ts';
import { describeMissingWeb } from '../worker/part-settings.ts';
import { BadSettings, readToolSettings, shippedAgentsDir } from '../worker/worker-settings.ts';

/**
 * Reads agents with the tools that `PLANWAVE_TOOLS` of this environment adds.
 *
 * @throws {CliError} when that module, or another setting of tools, can't be used
 */
export async function openCliAgents(env: NodeJS.ProcessEnv): Promise<CliAgents> {
  try {
    const { file, mcpFiles, web } = readToolSettings(env);
    const own = await loadTools(file);
    return createCliAgents(
      own.map(({ spec }) => spec.name),
      {
        missingTools: describeMissingWeb(web),
        servers: [...readMcpServers(mcpFiles, env).keys()],
      },
    );
  } catch (error) {
    throw error instanceof BadSettings ? badInput(error.message) : error;
  }
}

/** Parts of a worker's settings that decide which tools it has. */
interface ToolsHere {
  /** Tools that it lacks, each with the cause and the cure. */
  readonly missingTools: Readonly<Record<string, string>>;
  /** Names of its MCP servers. */
  readonly servers: readonly string[];
}

/**
 * Reads agents for the command line as the intake of a run does. Allowed folders are not judged: they depend on the worker.
 *
 * @param ownTools names of the tools that the worker's owner has added; none by default
 * @param here default: a worker that lacks no tool and has no MCP server
 */
export function createCliAgents(
  ownTools: readonly string[] = [],
  { missingTools, servers }: ToolsHere = { missingTools: {}, servers: [] },
): CliAgents {
  const toolNames = [...grantableNames, ...ownTools];
  const deps = {
    agents: createAgentsOf(toolNames),
    toolNames,
    workspaceTools: [],
  };
  return {
    async load(dir) {
      const { agents, faults } = await loadRegistry(deps, dir, true);
      const own = dir === null || faults.length > 0 ? [] : await loadAgents([dir]);
      const ownIds = new Set(own.map(({ agent_id }) => agent_id));
      return {
        agents: agents.map((agent) => ({
          ...agent,
          source: ownIds.has(agent.agent_id) ? 'own' : 'shipped',
        })),
        // A shipped file is named without the folder of this installation.
        faults: faults.map(({ path, reason }) => ({
          path: path.startsWith(shippedAgentsDir) ? basename(path) : path,
          reason,
        })),
      };
    },
    async check(text) {
      const parsed = parseAgentFile(text, { knownTools: toolNames });
      return 'faults' in parsed ? parsed.faults : [];
    },
    async findLacks(text) {
      const parsed = parseAgentFile(text, { knownTools: toolNames });
      if ('faults' in parsed) return { faults: [], leftOut: [] };
      const { allowed_tools } = parsed.definition;
      const lineOf = (tool: string): number =>
        text.split('\n').findIndex((line) => line.includes(tool)) + 1;
      return {
        faults: allowed_tools.flatMap((tool) => {
          if (!Object.hasOwn(missingTools, tool)) return [];
          const reason = `a worker with the settings of this shell does not have "${tool}": ${missingTools[tool]}`;
          return [{ line: lineOf(tool), reason }];
        }),
        leftOut: allowed_tools.flatMap((tool) => {
          const server = isMcpGrant(tool) ? serverOfGrant(tool) : null;
          if (server === null || servers.includes(server)) return [];
          const reason =
            `the agent goes without "${tool}": no file of PLANWAVE_MCP in this shell has the server "${server}". ` +
            `Servers are: ${listNames(servers)}`;
          return [{ line: lineOf(tool), reason }];
        }),
      };
    },
  };
}
