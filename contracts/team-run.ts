import type { DelegationOutline, PlannedExecutor } from './delegation.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import type { TriadEnd, TriadOutcome } from './triad-run.ts';

/** A member with its defaults filled in. */
export interface TeamSeat {
  readonly member_id: string;
  /** Identity of the executor of its tasks, equal across teams: `agent:<agent_id>`, `triad:<type>:<agent_ids>` or `team:<team_id>`. */
  readonly executor_id: string;
  readonly executor: PlannedExecutor;
  /** The agent itself, the member that writes a triad's output, or a team's leader. */
  readonly agent_id: string;
  readonly capabilities: readonly string[];
  readonly priority: number;
  readonly enabled: boolean;
}

/** Names of the functions that a team's message and answer pass. */
export interface TeamFunctions {
  readonly input_middlewares: readonly string[];
  readonly output_middlewares: readonly string[];
  readonly guardrails: { readonly input: readonly string[]; readonly output: readonly string[] };
}

/** A team with every default filled in, ready to start. */
export interface TeamSetup extends TeamFunctions {
  /** Null when the planner defined it for this one delegation. */
  readonly team_id: string | null;
  /** Agent of the leader. */
  readonly leader: string;
  /** Null for the leader's own. */
  readonly model: string | null;
  readonly members: readonly TeamSeat[];
  readonly allow_parallel: boolean;
  readonly max_parallel: number;
  readonly max_delegations: number;
  /** Seconds of work: waiting for the user, a pause and a parked run do not count. */
  readonly timeout: number;
  /** Seconds of work, at most `timeout`. */
  readonly member_timeout: number;
  readonly max_retries: number;
  readonly thread_id: string | null;
  readonly user_id: string | null;
  /** Adjustments, described for people: a member_timeout above the team's. */
  readonly notes: readonly string[];
}

/** A working team with its tasks, in a chain from the run's outermost team inwards. */
export interface TeamLink {
  /** Same form as `TeamSeat.executor_id`; a team without a name is `team:<delegation_id>`. */
  readonly executor_id: string;
  /** Tasks that it has given out, so that the teams below it do not give them out again. */
  readonly given: readonly GivenTask[];
}

export interface GivenTask {
  readonly delegation_id: string;
  /** Computed by `core/team/draft-calls.ts`. */
  readonly fingerprint: string;
}

export type TaskStatus =
  /**
   * `timed_out`: the time of the task or the team was over. `skipped`: it never started, as its reason says.
   */
  'completed' | 'failed' | 'timed_out' | 'stopped' | 'skipped';

/** One ended task of a leader. */
export interface TaskRecord {
  /** `<delegation_id of the team>.<name>`: unique in the run. */
  readonly delegation_id: string;
  readonly member_id: string;
  readonly title: string;
  /** The plan that holds the task. */
  readonly plan_ref: Ref;
  /** delegation_ids whose results it got. */
  readonly inputs: readonly string[];
  readonly status: TaskStatus;
  /** Empty when it completed. */
  readonly reason: string;
  readonly attempts: number;
  /** The AgentOutput; null when there is none. */
  readonly output_ref: Ref | null;
  /** Partial output that the model had written when its time was over; null when there is none. */
  readonly partial_ref: Ref | null;
  readonly turns: number;
  readonly usage: Usage;
  /** Milliseconds of work. */
  readonly worked_ms: number;
  readonly executor: ExecutorOutcome;
}

/** Report of a team's work, kept in the store and shown in `.planning/<run>/teams/<delegation>.md`. */
export interface TeamReport {
  readonly version: 1;
  readonly setup: TeamSetup;
  /** The plan that holds the message. */
  readonly plan_ref: Ref;
  readonly status: 'done' | 'failed' | 'timed_out' | 'stopped' | 'blocked';
  /** Reason why it is not done. */
  readonly reason: string;
  /** Listed in the order in which they were created. */
  readonly tasks: readonly TaskRecord[];
  /** Refused calls of the leader, with the reason. The first `refusalsKeptMax` of `core/limits.ts`. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
  readonly leader: { readonly turns: number; readonly usage: Usage };
  /** Adjustments, missing parts, and the effects of middlewares and guardrails. */
  readonly notes: readonly string[];
  /** The leader's AgentOutput; null when there is none. */
  readonly output_ref: Ref | null;
}

/**
 * Summary of a team in its delegation's outcome. It is sent with the results of fifty delegations, so
 * `core/team/team-state.ts` bounds it; the report holds the whole.
 */
export interface TeamOutcome {
  readonly team_id: string | null;
  readonly leader: { readonly agent_id: string; readonly turns: number; readonly usage: Usage };
  /** All members, in the order of the team. With the leader's, their usage adds up to that of the delegation without its verifiers. */
  readonly members: readonly {
    readonly member_id: string;
    /** Same form as `TeamSeat.executor_id`, cut to `teamExecutorCharsMax`. */
    readonly executor_id: string;
    readonly delegations: number;
    readonly usage: Usage;
  }[];
  readonly tasks: Readonly<Record<TaskStatus, number>>;
  /** True when parts may be missing, because of a time limit, a limit of delegations or a failure. */
  readonly partial: boolean;
  /** True when the engine has written the output, because the leader gave no answer. Absent for false. */
  readonly unanswered?: true;
  /** Cut to `teamNoteCharsMax`, the first `teamNotesMax`. */
  readonly notes: readonly string[];
  /** The TeamReport as JSON. */
  readonly report_ref: Ref;
}

/** Part of an outcome about its executor. `work` is null where a triad or a team never began, or was lost. */
export type ExecutorOutcome =
  | { readonly kind: 'agent' }
  | { readonly kind: 'triad'; readonly work: TriadOutcome | null }
  | { readonly kind: 'team'; readonly work: TeamOutcome | null };

/** Part of a triad's or a team's outcome that the planner's decision needs. There is none for an agent. */
export type ExecutorEnd =
  | ({ readonly kind: 'triad' } & TriadEnd)
  | ({ readonly kind: 'team' } & TeamEnd);

/** Part of a team's outcome that the planner's decision needs. */
export interface TeamEnd {
  readonly team_id: string | null;
  readonly tasks: TeamOutcome['tasks'];
  readonly partial: boolean;
  /** The report, for points that triads among its members could not settle. */
  readonly report_ref: Ref;
}

export interface OpenTeamInput {
  readonly run_id: string;
  readonly registry_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
}

export interface OpenTeamResult {
  readonly setup: TeamSetup;
  readonly message_ref: Ref;
}

export interface RewriteTaskInput {
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  /** The new message as text. */
  readonly message_ref: Ref;
}

/** Terms of a team that hold for every attempt at its delegation, also for its leader who mends the answer alone. */
export interface TeamTerms
  extends TeamFunctions, Pick<TeamSetup, 'thread_id' | 'user_id'>, RewriteTaskResult {
  /** The message as middlewares left it. */
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
  readonly tasks: readonly (Pick<TaskRecord, 'delegation_id' | 'member_id' | 'title' | 'inputs'> & {
    readonly task_ref: Ref;
  })[];
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
  /** Foundations of the delegation's copy of the workspace. Absent for a team whose tasks never began. */
  readonly builds?: { readonly record_ref: Ref; readonly on: readonly string[] };
}

export interface RecordTeamResult {
  /** The TeamReport as JSON. */
  readonly report_ref: Ref;
  /**
   * The leader's AgentOutput. When the team ended without one and members have results, an output that lists them and
   * is marked partial; otherwise null.
   */
  readonly output_ref: Ref | null;
  /** True when the output is not the leader's. Absent for false, and in results of earlier versions. */
  readonly unanswered?: true;
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
