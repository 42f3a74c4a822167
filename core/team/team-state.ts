import type { Ref } from '../../contracts/ref.ts';
import type { TeamCall } from '../../contracts/state-call.ts';
import type { TaskStatus, TeamLink, TeamSetup } from '../../contracts/team-run.ts';
import { closedBreaker } from './breaker.ts';
import type { Breaker } from './breaker.ts';

/** A task that a leader gave out. Texts stay in the store. */
export interface TeamTask {
  readonly delegation_id: string;
  /** What the leader calls it. */
  readonly name: string;
  /** Of the call. */
  readonly tool_use_id: string;
  readonly member_id: string;
  readonly executor_id: string;
  readonly title: string;
  readonly task_ref: Ref;
  readonly fingerprint: string;
  /** delegation_ids whose results it is given, as far as they have one. */
  readonly inputs: readonly string[];
  /** Those of `inputs` without which it does not start: the leader named them. */
  readonly needs: readonly string[];
  /** Tasks that have to be over before it starts. */
  readonly after: readonly string[];
  readonly state: 'pending' | 'running' | TaskStatus;
  /** Why it did not complete. Empty until then. */
  readonly reason: string;
  /** That began. */
  readonly attempts: number;
  readonly has_output: boolean;
}

/** A call of the leader that was not carried out. */
export interface RefusedCall {
  readonly member_id: string;
  readonly reason: string;
}

/** What a team has come to. Small and of bounded size: it is carried over continue-as-new. */
export interface TeamState {
  readonly setup: TeamSetup;
  readonly delegation_id: string;
  /** Teams above it. */
  readonly chain: readonly TeamLink[];
  /** What its own delegation was given: tasks may be given it too. */
  readonly upstream: readonly string[];
  /** In the order in which they were given out. */
  readonly tasks: readonly TeamTask[];
  /** By member_id; those that are not here are closed. */
  readonly breakers: Readonly<Record<string, Breaker>>;
  /** The first `refusalsKeptMax`. */
  readonly refused: readonly RefusedCall[];
  readonly refused_total: number;
}

/** One call, as it came. */
export interface GivenCall {
  readonly tool_use_id: string;
  readonly call: TeamCall;
}

export function openTeamState(
  setup: TeamSetup,
  from: Pick<TeamState, 'delegation_id' | 'chain' | 'upstream'>,
): TeamState {
  return { ...from, setup, tasks: [], breakers: {}, refused: [], refused_total: 0 };
}

/** For continue-as-new, when every task is over: in which order they were done is history. */
export function slimState(state: TeamState): TeamState {
  return {
    ...state,
    tasks: state.tasks.map((task) => ({ ...task, inputs: [], needs: [], after: [] })),
  };
}

/** What the team is called in chains of teams, as in `TeamLink`. */
export function executorOf({ setup, delegation_id }: TeamState): string {
  return `team:${setup.team_id ?? delegation_id}`;
}

export function breakerOf({ breakers, setup }: TeamState, memberId: string): Breaker {
  return breakers[memberId] ?? closedBreaker(firstRestMs(setup));
}

/** As long as a task of its may take: what was wrong with it for a moment is over by then. */
export function firstRestMs({ member_timeout }: TeamSetup): number {
  return member_timeout * 1_000;
}

export function isOver({ state }: TeamTask): boolean {
  return state !== 'pending' && state !== 'running';
}

/** Tasks of a member that are under way. */
export function countAtWork({ tasks }: TeamState, memberId: string): number {
  return tasks.filter((task) => task.member_id === memberId && task.state === 'running').length;
}
