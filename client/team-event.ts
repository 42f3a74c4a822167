import type { Question } from '../contracts/question.ts';
import type { TaskStatus, TeamOutcome } from '../contracts/team-run.ts';
import type { Usage } from '../contracts/usage.ts';
import type { TaskView, TeamLeaderView } from '../contracts/views.ts';

/**
 * An event of a team at work. Every event with a `delegation_id` names by it whose it is: a team's own is that of
 * the delegation it does (`task` for one that was started alone), and its tasks are `<delegation_id of the team>.<name>`.
 * A member that is a team has a leader and tasks of its own, which are told the same way.
 */
export type TeamEvent =
  | LeaderEvent
  | DelegationEvent
  | TextEvent
  | {
      /** Waits for the user. */
      readonly type: 'question';
      readonly question: Question;
      /** Answers it when pasted into a shell. */
      readonly command: string;
    }
  | {
      /** The answer for people, as Markdown. */
      readonly type: 'answer';
      readonly text: string;
    }
  | {
      /** About the streaming itself: the connection, the workers. */
      readonly type: 'notice';
      readonly text: string;
    }
  | ErrorEvent
  | EndEvent;

/** The leader thinks, has given out tasks, waits, or is done. */
export interface LeaderEvent {
  readonly type: 'leader';
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly state: TeamLeaderView['state'];
  /** Model calls of the leader so far. */
  readonly turn: number;
  /** Tasks that it has given out since the last event of this leader. */
  readonly given: number;
  /** Calls that were not carried out since then, with why. Only the newest few. */
  readonly refused: readonly { readonly member_id: string; readonly reason: string }[];
}

/**
 * A task is in another state, or its triad in another phase. `reason` is what it waits for, or the error by which it ended;
 * empty when it works or is done. More than 1 of `attempts`: it was tried again.
 */
export interface DelegationEvent extends Pick<
  TaskView,
  'delegation_id' | 'member_id' | 'title' | 'state' | 'reason' | 'attempts' | 'usage'
> {
  readonly type: 'delegation';
  /** Phase of a triad at work. */
  readonly phase: string | null;
}

/** Text that a model has written since the last event of the same call. */
export interface TextEvent {
  readonly type: 'text';
  readonly delegation_id: string;
  /** Writer of the text: the leader of that delegation, or the member that does the task. */
  readonly from: 'leader' | 'member';
  /** Agent that wrote it. In a triad, three agents write for one delegation. */
  readonly agent_id: string;
  /** The same for all that one call has written: what is joined by it, in order, is the text of the call. */
  readonly call: string;
  /** UTF-16 units of the call's text before this one. */
  readonly position: number;
  readonly text: string;
  /** Something before it is missing: it was written faster than it could be read. */
  readonly gap: boolean;
}

/**
 * Something failed for good: the streaming, and then nothing follows, for the team goes on without it; or the team, and then
 * its answer as far as there is one, and `end`, follow.
 */
interface ErrorEvent {
  readonly type: 'error';
  /** `unreachable`, or another code of PlanwaveClientError; `team_failed` when the team itself did. */
  readonly code: string;
  readonly message: string;
}

/** The team is at its end, and so is the stream. */
export interface EndEvent {
  readonly type: 'end';
  /** Status of the outcome, or how the workflow was closed: `cancelled`, `terminated`. */
  readonly status: string;
  /** Reason why it did not complete. */
  readonly reason: string;
  /** Usage of leader and members together. Null when the workflow ended without an outcome. */
  readonly usage: Usage | null;
  readonly leader: TeamOutcome['leader'] | null;
  readonly members: TeamOutcome['members'];
  /** Tasks by how they ended. */
  readonly tasks: Readonly<Partial<Record<TaskStatus, number>>>;
  /** True if the answer holds less than was asked for. */
  readonly partial: boolean;
  readonly notes: readonly string[];
}
