import { createGitWorktrees } from '../activities/adapters/git/git-worktrees.ts';
import { createPageFetcher } from '../activities/adapters/web/fetch-page.ts';
import { createFileWorkspaces } from '../activities/adapters/workspaces/file-workspaces.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import type { Stores } from '../activities/ports/stores.ts';
import {
  redactPages,
  redactRunner,
  redactWorktrees,
} from '../activities/redaction/redact-places.ts';
import type { ToolPlaces } from '../activities/tools/registry/create-registry.ts';
import type { Commands } from './open-commands.ts';
import { webDefaults } from './part-settings.ts';
import type { WorkerSettings } from './worker-settings.ts';

/**
 * Connects the places in which tools work with adapters. What is shown of them holds no secret; a user's file that is
 * replaced is kept as it is: with marks in it, nothing could restore it.
 */
export function createPlaces(
  settings: WorkerSettings,
  commands: Commands,
  stores: Stores,
  redactor: Redactor,
): ToolPlaces {
  const { home, workspaceRoots: roots, tools } = settings;
  const worktrees = redactWorktrees(createGitWorktrees({ home }), redactor);
  const workspaces = createFileWorkspaces({
    home,
    roots,
    worktrees,
    keep: (content) => stores.store.put(content),
    readable: tools?.readable ?? [],
    redactLines: (lines) => redactor.redactLines(lines, 'tool'),
  });
  const runner = 'runner' in commands ? redactRunner(commands.runner, redactor) : null;
  const untrusted = tools?.untrustedWorkspaces ?? false;
  const { on, hosts } = settings.web ?? webDefaults;
  const pages = hosts.length === 0 ? null : redactPages(createPageFetcher({ hosts }), redactor);
  const web = on ? { pages } : null;
  return { workspaces, worktrees, commands: runner, untrusted, web };
}
