import type { Ref } from './ref.ts';

/** A file that a run has changed. */
export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
}

/** Size of a change. */
export interface ChangeSize {
  readonly files_total: number;
  /** Lines; those of binary files are not counted. */
  readonly lines_added: number;
  readonly lines_removed: number;
}

/** Size of what a delegation has changed. */
export interface DelegationChange extends ChangeSize {
  readonly delegation_id: string;
}

/** Everything that a run's agents have changed in the user's folder, before it is there. */
export interface ProposedChanges extends ChangeSize {
  readonly dir: string;
  /** By path, at most `changedFilesShownMax`. */
  readonly files: readonly FileChange[];
  /** The delegations that changed something, with what each has changed. */
  readonly delegations: readonly DelegationChange[];
  /** The whole patch. */
  readonly patch_ref: Ref;
  /** The beginning of the patch. */
  readonly patch_shown: string;
  /** True when the folder is a git repository on a branch, without changes that are not committed. */
  readonly can_commit: boolean;
  /** Why the changes can't be brought into the folder. Empty when they can. */
  readonly obstacle: string;
}

/** Changes of the same lines by delegations that did not build on each other. */
export interface MergeConflict {
  /** The later one. */
  readonly delegation_id: string;
  /** Those before it. */
  readonly with: readonly string[];
  readonly files: readonly string[];
}

export interface FindMergeConflictsInput extends ChangesInput {
  /** Delegations that have completed since the record was written. */
  readonly completed: readonly string[];
  /** Delegation of a team whose tasks are compared with each other, instead of the delegations. */
  readonly team?: string;
}

export interface FindMergeConflictsResult {
  /** At most `mergeConflictsMax` of `core/limits.ts`. */
  readonly conflicts: readonly MergeConflict[];
  /** Changes of the completed delegations, with those of their teams' tasks. None is listed that changed nothing. */
  readonly sizes: readonly DelegationChange[];
}

/** Fate of a run's changes at its end. */
export interface SettledChanges extends Omit<
  ProposedChanges,
  'can_commit' | 'patch_shown' | 'obstacle'
> {
  /** `kept`: they are not in the folder. */
  readonly state: 'applied' | 'committed' | 'kept';
  /** Why they are not there, or not as it was wished. Empty when there is nothing to say. */
  readonly note: string;
}

export interface ChangesInput {
  readonly run_id: string;
  /** The record with the outcomes of all delegations. */
  readonly record_ref: Ref;
}

export interface ApplyChangesInput extends ChangesInput {
  /** True to commit them on the branch of the user's repository. */
  readonly commit: boolean;
  readonly goal_title: string;
  /** Time of the commit in Unix epoch seconds: a repetition makes the same one. */
  readonly at: number;
}

export type ApplyChangesResult = Pick<SettledChanges, 'state' | 'note'>;
