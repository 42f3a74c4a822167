import type { OpenRunInput } from '../contracts/activity-types.ts';
import { createAgentFiles } from '../activities/adapters/agent-files.ts';
import { createFileArtifactStore } from '../activities/adapters/file-store/file-artifact-store.ts';
import { createFileWorkspaces } from '../activities/adapters/workspaces/file-workspaces.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
} from '../activities/middlewares/middleware-registry.ts';
import { createShippedMiddlewares } from '../activities/middlewares/shipped-middlewares.ts';
import type { AgentSource } from '../activities/ports/agent-source.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import type { Workspaces } from '../activities/ports/workspaces.ts';
import { checkIntake } from '../activities/run-record/open-run.ts';
import { createTools } from '../activities/tools/registry/create-registry.ts';
import { listGrantable, listWorkspaceTools } from '../activities/tools/tool.ts';
import { shippedAgentsDir } from './worker-settings.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Creates the workspaces of a worker. A user's file that is replaced is kept as it is: marks in it could not be undone. */
export function createWorkspaces({
  home,
  workspaceRoots: roots,
}: Pick<WorkerSettings, 'home' | 'workspaceRoots'>): Workspaces {
  const plain = createFileArtifactStore({ home });
  return createFileWorkspaces({ home, roots, keep: (content) => plain.put(content) });
}

/**
 * Reads the shipped agents, and over them those of the folder that a run names.
 *
 * @param roots Folders from which a run may bring agents. If undefined, any.
 */
export function createAgentsOf(
  toolNames: readonly string[],
  roots?: readonly string[],
  onLeftOut?: (words: string) => void,
): (agentsDir: string | null) => AgentSource {
  return (agentsDir) =>
    createAgentFiles([shippedAgentsDir, ...(agentsDir === null ? [] : [agentsDir])], {
      knownTools: toolNames,
      roots: roots && [shippedAgentsDir, ...roots],
      ...(onLeftOut !== undefined && { onLeftOut }),
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
  const workspaces = createWorkspaces({ home });
  const tools = createTools(workspaces);
  const toolNames = listGrantable(tools).map(({ spec }) => spec.name);
  const shipped = createShippedMiddlewares({ redactText: (text) => text });
  const middlewares = createMiddlewareRegistry([...shipped, ...ownMiddlewares]);
  return async (typed) => {
    await checkIntake(
      {
        agents: createAgentsOf(toolNames),
        workspaces,
        toolNames,
        workspaceTools: listWorkspaceTools(tools),
        middlewareNames: describeMiddlewares(middlewares),
        models: [],
        isPriced: () => true,
      },
      typed,
    );
  };
}
