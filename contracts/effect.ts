import type { Ref } from './ref.ts';

/** Proof that a tool's change to the outside took place. */
export interface EffectReceipt {
  /** The changed path below the run's workspace, or the command. */
  readonly target: string;
  /**
   * SHA-256 of the content after the change, or of the removed content: 64 lower-case hex digits. For a command it is the
   * address of the result in the store.
   */
  readonly sha256: string;
  readonly bytes: number;
  /** True when the file was removed. Absent when it was written. */
  readonly removed?: true;
  /** The replaced content as an artifact, byte for byte. Absent when the run itself had written it, or there was none. */
  readonly replaced_ref?: Ref;
  /** Permissions of the file that had that content. Absent without it. */
  readonly replaced_mode?: number;
  /** The whole text after the change. Absent when the arguments of the call hold it, or the file was removed. */
  readonly content_ref?: Ref;
  /** Present for a command. */
  readonly command?: CommandReceipt;
  /** True for a call of something elsewhere: `target` names it, and `sha256` is its answer in the store. Absent for files and commands. */
  readonly call?: true;
  /** Present for `web_research`: `sha256` is then its WebReport in the store. */
  readonly web?: { readonly searches: number; readonly opened: number };
}

/** Proof that a command ran. */
export interface CommandReceipt {
  /** Null when it was killed at a limit. */
  readonly exit_code: number | null;
  /** False when it ran without a sandbox. */
  readonly confined: boolean;
  /** The whole output. Null when the result shows all of it. */
  readonly output_ref: Ref | null;
}

/** A file that a delegation wrote, listed in its detail. */
export interface WrittenFile {
  /** Below the run's workspace. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly tool: string;
  /** The arguments of the call as JSON in the store: its text is among them, unless `content_ref` is there. */
  readonly arguments_ref: Ref;
  readonly content_ref?: Ref;
}

/** The user's decision on an effect that could not be verified. */
export type EffectResolution =
  /** The effect took place. */
  | 'verified'
  /** Make the call again. */
  | 'retry'
  /** Go on without it. */
  | 'skip';

/** An effect in the run's record: a change, made or intended, that a tool makes outside of the run. */
export interface RecordedEffect {
  /** `<delegation_id>/effect-1`, `…-2`, in the order of the agent's calls. */
  readonly effect_id: string;
  readonly wave: number;
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly tool: string;
  /** The arguments as JSON in the store. */
  readonly arguments_ref: Ref;
  /**
   * - `intended`: the call is planned, or running, or waits for an approval.
   * - `confirmed`: it took place; `receipt` shows it, unless a person vouched for it.
   * - `unverified`: it is unknown whether it took place.
   * - `skipped`: it was unknown, and the user chose to go on without it.
   * - `failed`: it did not take place, for `reason`.
   * - `denied`: it was not approved, or not in time.
   */
  readonly state: 'intended' | 'confirmed' | 'unverified' | 'skipped' | 'failed' | 'denied';
  /** The target of the change, if the arguments name it; otherwise empty. */
  readonly target: string;
  /** Null while nothing is confirmed, and when a person vouched for it. */
  readonly receipt: EffectReceipt | null;
  /**
   * Reason why it is not confirmed, or the person that vouched for it. Empty when the receipt is enough. At most 1,000
   * characters.
   */
  readonly reason: string;
  /** The question by which the user approved or denied it; null when the user was not asked. */
  readonly approval_question_id: string | null;
  /** Unix epoch seconds. */
  readonly updated_at: number;
}

/** The user's consent to one call. It is not valid for any other. */
export interface Approval {
  readonly effect_id: string;
  readonly tool: string;
  /** Address of the arguments that were shown. */
  readonly arguments_ref: Ref;
  /** The state that was shown as being replaced; empty when the call replaces nothing of others. */
  readonly before: string;
  readonly question_id: string;
  /** Unix epoch seconds at which the user was asked. */
  readonly asked_at: number;
}

/** Data that a workflow adds to a call of a tool that changes something outside, or may need an approval. */
export interface EffectOrder {
  readonly effect_id: string;
  /** The first run of the calling workflow: with the effect_id it makes the idempotency key. */
  readonly chain_id: string;
  /** Workflow id of that run. If undefined, the calling workflow's. */
  readonly place?: string;
  /** Run ids of attempts that crashed: what they confirmed is not checked again. Absent when there are none. */
  readonly executions?: readonly string[];
  readonly approval: Approval | null;
  /** True for a call that needs an approval whatever its tool says: see `core/plan/rule-of-two.ts`. Absent: false. */
  readonly guarded?: true;
  /** Null until the user was asked about an effect that could not be verified. */
  readonly resolution: { readonly round: number; readonly choice: EffectResolution } | null;
}

export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
}

export interface ChangeSize {
  readonly files_total: number;
  /** Lines; those of binary files are not counted. */
  readonly lines_added: number;
  readonly lines_removed: number;
}

export interface DelegationChange extends ChangeSize {
  readonly delegation_id: string;
}

/** Everything that a run's agents have changed in the user's folder, before it is there. */
export interface ProposedChanges extends ChangeSize {
  readonly dir: string;
  /** The first changed files by path, at most `changedFilesShownMax`. */
  readonly files: readonly FileChange[];
  readonly delegations: readonly DelegationChange[];
  /** The whole patch. */
  readonly patch_ref: Ref;
  /** The beginning of the patch. */
  readonly patch_shown: string;
  /** True when the folder is a git repository on a branch, without changes that are not committed. */
  readonly can_commit: boolean;
  /** Reason why the changes can't be brought into the folder. Empty when they can. */
  readonly obstacle: string;
}

/** Changes of the same lines by delegations that did not build on each other. */
export interface MergeConflict {
  /** The later one. */
  readonly delegation_id: string;
  /** Those before it. */
  readonly with: readonly string[];
  readonly files: readonly string[];
  /** Number of further conflicts that are not listed, on the last one of a list. Absent for none. */
  readonly more?: number;
}

export interface FindMergeConflictsInput extends ChangesInput {
  /** Delegations that have completed since the record was written. */
  readonly completed: readonly string[];
  /** Delegation of a team whose tasks are compared with each other, instead of the delegations. */
  readonly team?: string;
  /** Tasks of the team that ended without being completed: their changes don't count. Absent for none. */
  readonly unfinished?: readonly string[];
}

export interface FindMergeConflictsResult {
  /** At most `mergeConflictsMax` of `core/limits.ts`; the last one says how many there are more. */
  readonly conflicts: readonly MergeConflict[];
  /** Changes of tasks that the completed delegations' teams left out. Absent when there are none. */
  readonly tasks?: readonly MergeConflict[];
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
  /** Reason why they are not there, or not as it was wished. Empty when there is nothing to say. */
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
