import type { Ref } from './ref.ts';
import type { PlannedExecutor } from './executor.ts';
import type { TriadEnd, TriadOutcome } from './triad-run.ts';
import type { Usage } from './usage.ts';

/** A member as the engine's rules know it, with what its definition left out filled in. */
export interface TeamSeat {
  readonly member_id: string;
  /** Who does its tasks, equal across teams: `agent:<agent_id>`, `triad:<type>:<agent_ids>` or `team:<team_id>`. */
  readonly executor_id: string;
  readonly executor: PlannedExecutor;
  /** Of an agent; of a triad, of the member who writes its output; of a team, its leader. */
  readonly agent_id: string;
  readonly capabilities: readonly string[];
  readonly priority: number;
  readonly enabled: boolean;
}

/** A team as it goes to work: every default filled in. */
export interface TeamSetup {
  /** Null: the planner put it together for this one delegation. */
  readonly team_id: string | null;
  /** Agent of the leader. */
  readonly leader: string;
  /** Null: the leader's own. */
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
  readonly input_middlewares: readonly string[];
  readonly output_middlewares: readonly string[];
  readonly guardrails: { readonly input: readonly string[]; readonly output: readonly string[] };
  readonly thread_id: string | null;
  readonly user_id: string | null;
  /** What was adjusted, for people: a member_timeout over the team's. */
  readonly notes: readonly string[];
}

/** A team at work, and what it has given out: from the run's outermost team inwards. */
export interface TeamLink {
  /** As in `TeamSeat.executor_id`; a team without a name is `team:<delegation_id>`. */
  readonly executor_id: string;
  /** Tasks that it has given out, so that the teams below it do not give them out again. */
  readonly given: readonly GivenTask[];
}

export interface GivenTask {
  readonly delegation_id: string;
  /** As `core/team/fingerprint-task.ts` computes it. */
  readonly fingerprint: string;
}

export type TaskStatus =
  /** `timed_out`: its time or the team's was over. `not_started`: something that it needs could not come. */
  'completed' | 'failed' | 'timed_out' | 'stopped' | 'not_started';

/** One delegation of a leader, when it is over. */
export interface TaskRecord {
  /** `<delegation_id of the team>.<name>`: unique in the run. */
  readonly delegation_id: string;
  readonly member_id: string;
  readonly title: string;
  /** Of the plan that holds the task. */
  readonly plan_ref: Ref;
  /** delegation_ids whose results it was given. */
  readonly inputs: readonly string[];
  readonly status: TaskStatus;
  /** Empty when it completed. */
  readonly reason: string;
  readonly attempts: number;
  /** The AgentOutput; null when there is none. */
  readonly output_ref: Ref | null;
  /** What the model had written of an output when its time was over; null when nothing. */
  readonly partial_ref: Ref | null;
  readonly turns: number;
  readonly usage: Usage;
  /** Milliseconds of work. */
  readonly worked_ms: number;
  readonly executor: ExecutorOutcome;
}

/** How a team's work ended, as the store keeps it and `.planning/<run>/teams/<delegation>.md` shows it. */
export interface TeamReport {
  readonly version: 1;
  readonly setup: TeamSetup;
  /** Of the plan that holds the message. */
  readonly plan_ref: Ref;
  readonly status: 'done' | 'failed' | 'timed_out' | 'stopped' | 'blocked';
  /** Why it is not done. */
  readonly reason: string;
  /** In the order in which they were given out. */
  readonly tasks: readonly TaskRecord[];
  /** Calls of the leader that were not carried out, with why. The first `refusalsKeptMax` of `core/limits.ts`. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
  readonly leader: { readonly turns: number; readonly usage: Usage };
  /** What was adjusted, what went on without something, what a middleware or a guardrail did. */
  readonly notes: readonly string[];
  /** The leader's AgentOutput; null when there is none. */
  readonly output_ref: Ref | null;
}

/**
 * What a delegation's outcome says of its team. It travels with the results of fifty delegations, so it is bounded by
 * `core/team/bound-team.ts`; the report holds the whole.
 */
export interface TeamOutcome {
  readonly team_id: string | null;
  readonly leader: { readonly agent_id: string; readonly turns: number; readonly usage: Usage };
  /** Each member, in the order of the team. With the leader's, their usage is that of the whole delegation. */
  readonly members: readonly {
    readonly member_id: string;
    /** As in `TeamSeat.executor_id`, cut to `teamExecutorCharsMax`. */
    readonly executor_id: string;
    readonly delegations: number;
    readonly usage: Usage;
  }[];
  /** Tasks by how they ended. */
  readonly tasks: Readonly<Record<TaskStatus, number>>;
  /** Whether it may hold less than was asked for, because of a time limit, a limit of delegations or a failure. */
  readonly partial: boolean;
  /** Cut to `teamNoteCharsMax`, the first `teamNotesMax`. */
  readonly notes: readonly string[];
  /** The TeamReport as JSON. */
  readonly report_ref: Ref;
}

/** What an outcome says of its executor. `work` is null where a triad or a team never began, or was lost. */
export type ExecutorOutcome =
  | { readonly kind: 'agent' }
  | { readonly kind: 'triad'; readonly work: TriadOutcome | null }
  | { readonly kind: 'team'; readonly work: TeamOutcome | null };

/** What the planner's decision has to know of an executor besides the output; nothing of an agent. */
export type ExecutorEnd =
  | ({ readonly kind: 'triad' } & TriadEnd)
  | ({ readonly kind: 'team' } & TeamEnd);

/** What the planner's decision has to know of a team. */
export interface TeamEnd {
  readonly team_id: string | null;
  readonly tasks: TeamOutcome['tasks'];
  readonly partial: boolean;
  /** The report, for what triads among its members could not settle. */
  readonly report_ref: Ref;
}
