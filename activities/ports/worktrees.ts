import type { WorkspacePlace } from './workspaces.ts';
import type { FileChange } from '../../contracts/effect.ts';

/**
 * Copies of a folder of the user's, one for each delegation. The folder is only read: objects, refs and files of a run are
 * in its own repository below the artifact home. A place without a folder or without a worker has no copy, and each method
 * returns null for it, or does nothing. A leader's copy has the changes of those of its team's tasks that it builds on.
 */
export interface Worktrees {
  /**
   * Returns the folder of the delegation's copy, an absolute path. It is made at the first use.
   *
   * @throws {WorkspaceRefused} when the changes that it builds on contradict each other; the message names the files.
   */
  open(place: WorkspacePlace): Promise<string | null>;

  /** Tells whether a file at a path would be in none of the copy's commits, because an ignore file names it. */
  leavesOut(place: WorkspacePlace, path: string): Promise<boolean | null>;

  /** Lists the files that are in the copy's commits although an ignore file names them. */
  listKept(place: WorkspacePlace): Promise<readonly string[] | null>;

  /** Keeps the present files as a commit and returns its id. Files as they were kept before give the same commit. */
  keep(place: WorkspacePlace): Promise<string | null>;

  /** Returns the commit with which the copy began. */
  startOf(place: WorkspacePlace): Promise<string | null>;

  /** Puts the files back to a commit. Files that git ignores stay. */
  restore(place: WorkspacePlace, commit: string): Promise<void>;

  /** Lists the files that the delegation has changed, by path. */
  listChanges(place: WorkspacePlace): Promise<readonly FileChange[] | null>;

  /** Lists the files of the delegation's copy that differ from the user's as they were at the start, whoever changed them. */
  listTouched(place: WorkspacePlace): Promise<readonly FileChange[] | null>;

  /** Returns the delegation's changes as a patch, with those of its team; empty when there are none. */
  diff(place: WorkspacePlace): Promise<string | null>;

  /**
   * Ends the work of the delegation's team: changes of the tasks that the place builds on come into its copy, and those of
   * `unfinished` tasks belong to nothing any more. Repeating it gives the same.
   */
  gatherTasks(place: WorkspacePlace, unfinished: readonly string[]): Promise<void>;
}
