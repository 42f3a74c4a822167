import type { OpenRunInput } from '../contracts/activity-types.ts';
import { createAgentFiles } from '../activities/adapters/agent-files.ts';
import { createGitWorktrees } from '../activities/adapters/git/git-worktrees.ts';
import { createFileWorkspaces } from '../activities/adapters/workspaces/file-workspaces.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
  createShippedMiddlewares,
} from '../activities/middlewares/shipped-middlewares.ts';
import type { AgentSource } from '../activities/ports/agent-source.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import { checkIntake } from '../activities/run-record/open-run.ts';
import { createTools, grantableNames } from '../activities/tools/registry/create-registry.ts';
import { listWorkspaceTools, type GrantableTool } from '../activities/tools/tool.ts';
import { shippedAgentsDir, type WorkerSettings } from './worker-settings.ts';

interface AgentsOptions extends Pick<WorkerSettings, 'agentRoots'> {
  /** Called with words for what a file grants and this worker does not have. */
  readonly onLeftOut?: (words: string) => void;
  /** Tools that this worker lacks, each with the cause and the cure. */
  readonly missingTools?: Readonly<Record<string, string>>;
}

/** Reads the shipped agents, and over them those of the folder that a run names. */
export function createAgentsOf(
  toolNames: readonly string[],
  { agentRoots, onLeftOut, missingTools }: AgentsOptions = {},
): (agentsDir: string | null) => AgentSource {
  return (agentsDir) =>
    createAgentFiles([shippedAgentsDir, ...(agentsDir === null ? [] : [agentsDir])], {
      knownTools: toolNames,
      shippedDir: shippedAgentsDir,
      ...(missingTools !== undefined && { missingTools }),
      roots: agentRoots && [shippedAgentsDir, ...agentRoots],
      ...(onLeftOut !== undefined && { onLeftOut }),
    });
}

/** Rejects with `InvalidInput`, whose message lists every fault, when a worker would refuse the input. */
export type InputCheck = (typed: Pick<OpenRunInput, 'workflow_type' | 'input'>) => Promise<void>;

/** A check replaces no file. */
function keep(): Promise<never> {
  return Promise.reject(new Error('a check of an input writes nothing'));
}

/**
 * Creates the worker's own check of an input for a client that sees the same files. Models, allowed folders and whether
 * commands can run are not judged: they depend on the worker.
 *
 * @param home absolute.
 */
export function createInputCheck(
  home: string,
  ownMiddlewares: readonly Middleware[],
  ownTools: readonly GrantableTool[],
): InputCheck {
  const workspaces = createFileWorkspaces({ home, keep });
  const worktrees = createGitWorktrees({ home });
  const tools = createTools({ workspaces, worktrees, commands: null });
  const toolNames = [...grantableNames, ...ownTools.map(({ spec }) => spec.name)];
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
