import { basename } from 'node:path';
import { parseAgentFile } from '../activities/adapters/agent-file/parse-agent-file.ts';
import { loadAgents } from '../activities/adapters/agent-files.ts';
import { loadRegistry } from '../activities/run-record/load-registry.ts';
import { grantableNames } from '../activities/tools/registry/create-registry.ts';
import type { CliAgents } from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { createAgentsOf } from '../worker/create-input-check.ts';
import { loadTools } from '../worker/load-modules.ts';
import { BadSettings, readToolSettings, shippedAgentsDir } from '../worker/worker-settings.ts';

/**
 * Reads agents with the tools that `PLANWAVE_TOOLS` of this environment adds.
 *
 * @throws {CliError} when that module can't be used
 */
export async function openCliAgents(env: NodeJS.ProcessEnv): Promise<CliAgents> {
  try {
    const own = await loadTools(readToolSettings(env).file);
    return createCliAgents(own.map(({ spec }) => spec.name));
  } catch (error) {
    throw error instanceof BadSettings ? badInput(error.message) : error;
  }
}

/**
 * Reads agents for the command line as the intake of a run does. Allowed folders are not judged: they depend on the worker.
 *
 * @param ownTools names of the tools that the worker's owner has added; none by default
 */
export function createCliAgents(ownTools: readonly string[] = []): CliAgents {
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
  };
}
