import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import { createGitWorktrees } from '../../activities/adapters/git/git-worktrees.ts';
import { createFileWorkspaces } from '../../activities/adapters/workspaces/file-workspaces.ts';
import { createUnconfinedRunner } from '../../activities/adapters/sandbox/command-runner.ts';
import type { Workspaces } from '../../activities/ports/workspaces.ts';
import type { Worktrees } from '../../activities/ports/worktrees.ts';
import { createTools } from '../../activities/tools/registry/create-registry.ts';
import type { ToolRegistry } from '../../activities/tools/tool.ts';

/** Creates workspaces as a worker does, with kept files in the artifact store of the home. */
export function fileWorkspaces(
  home: string,
  roots?: readonly string[],
  worktrees?: Worktrees,
  readable: readonly string[] = [],
): Workspaces {
  const store = createFileArtifactStore({ home });
  const keep = (content: Uint8Array) => store.put(content);
  return createFileWorkspaces({ home, roots, keep, readable, ...(worktrees && { worktrees }) });
}

/** Creates every tool that is shipped, as a worker that lets commands run without a sandbox. */
export function shippedTools(home: string): ToolRegistry {
  const worktrees = createGitWorktrees({ home });
  const commands = createUnconfinedRunner({ toolchains: [], sharedFolders: [] });
  return createTools({
    workspaces: fileWorkspaces(home, undefined, worktrees),
    worktrees,
    commands,
    web: { pages: { fetch: () => Promise.reject(new Error('no web here')) } },
  });
}
