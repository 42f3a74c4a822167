import type {
  ApplyChangesResult,
  DelegationChange,
  MergeConflict,
  ProposedChanges,
} from '../../contracts/effect.ts';

/** A run whose changes belong into a folder of the user's. */
export interface ChangedFolder {
  readonly run_id: string;
  /** The user's folder. */
  readonly dir: string;
  /** Delegations whose changes count, in the order in which they are merged. */
  readonly delegation_ids: readonly string[];
  /** Folders of the agents' results, relative to `dir`. They stay out of it, except those that were there before the run. */
  readonly results_folders: readonly string[];
}

/** The changes of a whole run, on their way into the user's folder. */
export interface RunChanges {
  /** Finds delegations that changed the same lines as those before them. */
  findConflicts(run: ChangedFolder): Promise<readonly MergeConflict[]>;

  /**
   * Finds tasks of a team that changed the same lines as tasks before them. Their changes are left out of the team's.
   *
   * @param unfinished tasks that ended without being completed: theirs don't count.
   */
  findTaskConflicts(
    run: ChangedFolder,
    team: string,
    unfinished: readonly string[],
  ): Promise<readonly MergeConflict[]>;

  /** Returns the sizes of the changes of each delegation and of each task of a team, of those that changed something. */
  measure(run: ChangedFolder): Promise<readonly DelegationChange[]>;

  /** Sums them up without changing anything. Null when there are none. The patch comes as text. */
  propose(
    run: ChangedFolder,
  ): Promise<
    (Omit<ProposedChanges, 'patch_ref' | 'patch_shown'> & { readonly patch: string }) | null
  >;

  /**
   * Brings them into the folder; after a crash it continues. What the user has changed since stays.
   *
   * @param commit Message and time, Unix epoch seconds, of a commit. Null: files only.
   */
  apply(
    run: ChangedFolder,
    commit: { readonly message: string; readonly at: number } | null,
  ): Promise<ApplyChangesResult>;
}
