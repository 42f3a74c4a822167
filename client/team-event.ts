import type { Question } from '../contracts/question.ts';
import type { TaskStatus, TeamOutcome } from '../contracts/team-run.ts';
import type { Usage } from '../contracts/usage.ts';
import type { TaskView, TeamLeaderView } from '../contracts/views.ts';

/**
 * Event of a running team. A `delegation_id` in an event names the team or task it belongs to: a team has the id of the
 * delegation it does (`task` for one that was started alone), and its tasks are `<delegation_id of the team>.<name>`. A
 * member that is a team has a leader and tasks of its own, which are reported the same way.
 */
export type TeamEvent =
  | LeaderEvent
  | DelegationEvent
  | TextEvent
  | {
      /** Question that waits for the user. */
      readonly type: 'question';
      readonly question: Question;
      /** Command that answers it when pasted into a shell. */
      readonly command: string;
    }
  | {
      /** Answer for people, as Markdown. */
      readonly type: 'answer';
      readonly text: string;
    }
  | {
      /** Notice about the streaming itself: the connection, the workers. */
      readonly type: 'notice';
      readonly text: string;
    }
  | ErrorEvent
  | EndEvent;

/** Change of the leader: it thinks, has created tasks, waits, or is done. */
export interface LeaderEvent {
  readonly type: 'leader';
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly state: TeamLeaderView['state'];
  /** Model calls of the leader so far. */
  readonly turn: number;
  /** Tasks created since the last event of this leader. */
  readonly given: number;
  /** Calls that were refused since then, with the reason. Only the newest few. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
}

/**
 * Change of a task's state or of its triad's phase. `reason` is what it waits for, or the error by which it ended;
 * empty when it works or is done. More than 1 of `attempts`: it was retried.
 */
export interface DelegationEvent extends Pick<
  TaskView,
  'delegation_id' | 'member_id' | 'title' | 'state' | 'reason' | 'attempts' | 'usage'
> {
  readonly type: 'delegation';
  /** Phase of a running triad. */
  readonly phase: string | null;
}

/** Text that a model has written since the last event of the same call. */
export interface TextEvent {
  readonly type: 'text';
  readonly delegation_id: string;
  /** Says whether the leader of that delegation wrote it, or the agent that does the task. */
  readonly from: 'leader' | 'member';
  /** Agent that wrote it. In a triad, three agents write for one delegation. */
  readonly agent_id: string;
  /** Same for all text of one call: joined in order, the texts with this id are the text of the call. */
  readonly call: string;
  /** UTF-16 units of the call's text before this one. */
  readonly position: number;
  readonly text: string;
  /** True when text before it is missing: it was written faster than it could be read. */
  readonly gap: boolean;
}

/**
 * Final failure. When the streaming failed, nothing follows, because the team continues without it; when the team
 * failed, its answer, if any, and `end` follow.
 */
interface ErrorEvent {
  readonly type: 'error';
  /** `unreachable`, or another code of PlanwaveClientError; `team_failed` when the team itself failed. */
  readonly code: string;
  readonly message: string;
}

/** End of the team and of the stream. */
export interface EndEvent {
  readonly type: 'end';
  /** Status of the outcome, or the way the workflow was closed: `cancelled`, `terminated`. */
  readonly status: string;
  /** Reason why it did not complete. */
  readonly reason: string;
  /** Usage of leader and members together. Null when the workflow ended without an outcome. */
  readonly usage: Usage | null;
  readonly leader: TeamOutcome['leader'] | null;
  readonly members: TeamOutcome['members'];
  /** Number of tasks by how they ended. */
  readonly tasks: Readonly<Partial<Record<TaskStatus, number>>>;
  /** True when the answer contains less than was requested. */
  readonly partial: boolean;
  readonly notes: readonly string[];
}
