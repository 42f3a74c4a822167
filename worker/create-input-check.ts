import type { OpenRunInput } from '../contracts/activity-types.ts';
import { createAgentFiles } from '../activities/adapters/agent-files.ts';
import { createFileWorkspaces } from '../activities/adapters/file-workspaces.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
} from '../activities/middlewares/middleware-registry.ts';
import { createShippedMiddlewares } from '../activities/middlewares/shipped-middlewares.ts';
import type { AgentSource } from '../activities/ports/agent-source.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import type { Workspaces } from '../activities/ports/workspaces.ts';
import { checkIntake } from '../activities/run-record/open-run.ts';
import { createToolRegistry } from '../activities/tools/registry/create-registry.ts';
import type { ToolRegistry } from '../activities/tools/tool.ts';
import { loadDetail } from '../activities/tools/registry/load-detail.ts';
import { createWriteFile } from '../activities/tools/registry/write-file.ts';
import { listGrantable } from '../activities/tools/tool.ts';
import { shippedAgentsDir } from './worker-settings.ts';

/** Creates every tool of a worker. */
export function createTools(workspaces: Workspaces): ToolRegistry {
  return createToolRegistry([loadDetail, createWriteFile(workspaces)]);
}

/** Reads the shipped agents, and over them those of the folder that a run names. */
export function createAgentsOf(
  toolNames: readonly string[],
): (agentsDir: string | null) => AgentSource {
  return (agentsDir) =>
    createAgentFiles([shippedAgentsDir, ...(agentsDir === null ? [] : [agentsDir])], {
      knownTools: toolNames,
    });
}

/** Rejects with `InvalidInput`, whose message lists every fault, when a worker would refuse the input. */
export type InputCheck = (typed: Pick<OpenRunInput, 'workflow_type' | 'input'>) => Promise<void>;

/**
 * Creates the worker's own check of an input for a client that sees the same files. Models are not judged: which ones there
 * are depends on the provider of the worker.
 *
 * @param home absolute.
 */
export function createInputCheck(home: string, ownMiddlewares: readonly Middleware[]): InputCheck {
  const workspaces = createFileWorkspaces({ home });
  const toolNames = listGrantable(createTools(workspaces)).map(({ spec }) => spec.name);
  const shipped = createShippedMiddlewares({ redactText: (text) => text });
  const middlewares = createMiddlewareRegistry([...shipped, ...ownMiddlewares]);
  return async (typed) => {
    await checkIntake(
      {
        agents: createAgentsOf(toolNames),
        workspaces,
        toolNames,
        middlewareNames: describeMiddlewares(middlewares),
        models: [],
        isPriced: () => true,
      },
      typed,
    );
  };
}
