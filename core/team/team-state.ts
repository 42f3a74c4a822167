import type { Ref } from '../../contracts/ref.ts';
import type { TeamCall } from '../../contracts/state-call.ts';
import type { TaskStatus, TeamLink, TeamSetup } from '../../contracts/team-run.ts';
import { closedBreaker } from './breaker.ts';
import type { Breaker } from './breaker.ts';

/** A task that a leader created. Texts stay in the store. */
export interface TeamTask {
  readonly delegation_id: string;
  /** The leader's name for it. */
  readonly name: string;
  /** Id of the call. */
  readonly tool_use_id: string;
  readonly member_id: string;
  readonly executor: string;
  readonly title: string;
  readonly task_ref: Ref;
  readonly fingerprint: string;
  /** delegation_ids whose results it gets, if they have any. */
  readonly inputs: readonly string[];
  /** Those of `inputs` that the leader named; without their results it does not start. */
  readonly needs: readonly string[];
  /** Tasks that must end before it starts. */
  readonly after: readonly string[];
  readonly state: 'pending' | 'running' | TaskStatus;
  /** Cause of its failure. Empty until then. */
  readonly reason: string;
  /** Number of attempts that began. */
  readonly attempts: number;
  readonly has_output: boolean;
}

/** A refused call of the leader. */
export interface RefusedCall {
  readonly member_id: string;
  readonly reason: string;
}

/** State of a team. Small and of bounded size, because it is carried over continue-as-new. */
export interface TeamState {
  readonly setup: TeamSetup;
  readonly delegation_id: string;
  /** Teams above this one. */
  readonly chain: readonly TeamLink[];
  /** Inputs of its own delegation; tasks may get them too. */
  readonly upstream: readonly string[];
  /** Listed in the order in which they were created. */
  readonly tasks: readonly TeamTask[];
  /** Keyed by member_id; a missing one is closed. */
  readonly breakers: Readonly<Record<string, Breaker>>;
  /** The first `refusalsKeptMax`. */
  readonly refused: readonly RefusedCall[];
  readonly refused_total: number;
}

/** One call of the leader, unchanged. */
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

/** Drops the order of tasks for continue-as-new, when every task has ended. */
export function slimState(state: TeamState): TeamState {
  return {
    ...state,
    tasks: state.tasks.map((task) => ({ ...task, inputs: [], needs: [], after: [] })),
  };
}

/** Returns the team's name in chains of teams, as in `TeamLink`. */
export function executorOf({ setup, delegation_id }: TeamState): string {
  return `team:${setup.team_id ?? delegation_id}`;
}

export function breakerOf({ breakers, setup }: TeamState, memberId: string): Breaker {
  return breakers[memberId] ?? closedBreaker(firstRestMs(setup));
}

/** Returns the time limit of one task: a temporary fault is over by then. */
export function firstRestMs({ member_timeout }: TeamSetup): number {
  return member_timeout * 1_000;
}

export function isOver({ state }: TeamTask): boolean {
  return state !== 'pending' && state !== 'running';
}

/** Counts the running tasks of a member. */
export function countAtWork({ tasks }: TeamState, memberId: string): number {
  return tasks.filter((task) => task.member_id === memberId && task.state === 'running').length;
}
