import type { DelegationOutline } from './delegation.ts';
import type { Ref } from './ref.ts';
import type { TeamReport, TeamSetup } from './team-run.ts';

export interface OpenTeamInput {
  readonly run_id: string;
  readonly registry_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
}

export interface OpenTeamResult {
  readonly setup: TeamSetup;
  /** The message as text. */
  readonly message_ref: Ref;
}

export interface RewriteTaskInput {
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  /** The new message as text. */
  readonly message_ref: Ref;
}

/** A plan with the new text, and a record in which it stands as the goal where the old text did. Nobody publishes them. */
export interface RewriteTaskResult {
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
}

export interface PlanTasksInput {
  readonly registry_ref: Ref;
  /** Where the team is defined. */
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  readonly tasks: readonly {
    /** Of the task: `<delegation_id of the team>.<name>`. */
    readonly delegation_id: string;
    readonly member_id: string;
    readonly title: string;
    readonly task_ref: Ref;
    /** delegation_ids whose results it is given. */
    readonly inputs: readonly string[];
  }[];
}

export interface PlanTasksResult {
  readonly plan_ref: Ref;
  /** In the order of the tasks. */
  readonly delegations: readonly DelegationOutline[];
}

export interface ApplyMiddlewareInput {
  readonly name: string;
  readonly kind: 'middleware' | 'guardrail';
  readonly stage: 'input' | 'output';
  readonly run_id: string;
  readonly delegation_id: string;
  /** Of `input`: the message as text. Of `output`: the AgentOutput. */
  readonly subject_ref: Ref;
}

export type ApplyMiddlewareResult =
  /** `subject_ref` is the same one where nothing was changed. `note` is for people; empty for none. */
  | { readonly type: 'passed'; readonly subject_ref: Ref; readonly note: string }
  /** Only a guardrail blocks. */
  | { readonly type: 'blocked'; readonly reason: string }
  /** Only a guardrail has a person decide whether the text may pass. */
  | { readonly type: 'ask'; readonly reason: string };

export interface RecordTeamInput {
  readonly run_id: string;
  readonly delegation_id: string;
  readonly report: TeamReport;
}

export interface RecordTeamResult {
  /** The TeamReport as JSON. */
  readonly report_ref: Ref;
  /**
   * The leader's AgentOutput; where the team ended without one and members brought something, an output that names what
   * they brought and is marked partial; else null.
   */
  readonly output_ref: Ref | null;
}

export interface LoadThreadInput {
  readonly thread_id: string;
  /** What it is to help with: past delegations are searched for it. */
  readonly message_ref: Ref;
  /** The run that asks. What it has added itself is left out. */
  readonly run_id: string;
}

export interface LoadThreadResult {
  /** The ThreadHistory of `contracts/thread.ts`; null when the thread is new. */
  readonly history_ref: Ref | null;
  /** What the leader is told of it, and what could not be read, for people. */
  readonly note: string;
}

export interface SaveThreadInput {
  readonly thread_id: string;
  readonly user_id: string | null;
  readonly run_id: string;
  readonly delegation_id: string;
  readonly message_ref: Ref;
  /** The TeamReport: its tasks are the delegations. */
  readonly report_ref: Ref;
  /** The AgentOutput of the answer; null when there is none. */
  readonly output_ref: Ref | null;
  /** Unix epoch seconds. */
  readonly now: number;
}
