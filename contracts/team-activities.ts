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

/** A plan with the new text, and a record whose goal is the new text where it was the old one. Neither is published. */
export interface RewriteTaskResult {
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
}

export interface PlanTasksInput {
  readonly registry_ref: Ref;
  /** The plan that defines the team. */
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  readonly tasks: readonly {
    /** Id of the task: `<delegation_id of the team>.<name>`. */
    readonly delegation_id: string;
    readonly member_id: string;
    readonly title: string;
    readonly task_ref: Ref;
    /** delegation_ids whose results it gets. */
    readonly inputs: readonly string[];
  }[];
}

export interface PlanTasksResult {
  readonly plan_ref: Ref;
  /** Listed in the order of the tasks. */
  readonly delegations: readonly DelegationOutline[];
}

export interface ApplyMiddlewareInput {
  readonly name: string;
  readonly kind: 'middleware' | 'guardrail';
  readonly stage: 'input' | 'output';
  readonly run_id: string;
  readonly delegation_id: string;
  /** The message as text at stage `input`, the AgentOutput at stage `output`. */
  readonly subject_ref: Ref;
}

export type ApplyMiddlewareResult =
  /** `subject_ref` is unchanged when nothing was changed. `note` is for people; empty for none. */
  | { readonly type: 'passed'; readonly subject_ref: Ref; readonly note: string }
  /** Returned only by a guardrail. */
  | { readonly type: 'blocked'; readonly reason: string }
  /** Returned only by a guardrail: a person decides whether the text may pass. */
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
   * The leader's AgentOutput. When the team ended without one and members have results, an output that lists them and
   * is marked partial; otherwise null.
   */
  readonly output_ref: Ref | null;
}

export interface LoadThreadInput {
  readonly thread_id: string;
  /** The message for which past delegations are searched. */
  readonly message_ref: Ref;
  /** The run that asks. Its own entries are left out. */
  readonly run_id: string;
}

export interface LoadThreadResult {
  /** The ThreadHistory of `contracts/thread.ts`; null when the thread is new. */
  readonly history_ref: Ref | null;
  /** Description for people of what the leader was given and what could not be read. */
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
