/**
 * Describes a working team for people.
 *
 * Invariants:
 *   VT1. Each task is shown, in the order of creation, with its use.
 */
import type { TeamSetup } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationStatusView, TaskView, TeamView } from '../../contracts/views.ts';
import { viewUnbegun } from '../executor.ts';
import { engineLimits } from '../limits.ts';
import type { Entry } from '../schedule/schedule.ts';
import { noUsage } from '../usage/add-usage.ts';
import type { TeamState, TeamTask } from './team-state.ts';

/** Facts about a task besides its state in the team. */
export interface SeenTask {
  /** Turns of all its attempts. */
  readonly turns: number;
  readonly usage: Usage;
  /** View of its executor; null before it began. */
  readonly status: DelegationStatusView | null;
}

export interface TeamProgress {
  readonly leader: TeamView['leader'];
  readonly worked_ms: number;
  readonly notes: readonly string[];
}

export function viewTeam(
  state: TeamState,
  seen: ReadonlyMap<string, SeenTask>,
  { leader, worked_ms, notes }: TeamProgress,
): TeamView {
  const { setup, tasks, refused, refused_total } = state;
  return {
    team_id: setup.team_id,
    leader,
    tasks: tasks.entries.map((task) => viewTask(task, setup, seen.get(task.delegation_id))),
    refused: refused.slice(-engineLimits.refusalsShownMax),
    refused_total,
    max_delegations: setup.max_delegations,
    worked_seconds: Math.floor(worked_ms / 1_000),
    timeout: setup.timeout,
    notes,
  };
}

const unseen: SeenTask = { turns: 0, usage: noUsage, status: null };

function viewTask(
  task: Entry<TeamTask>,
  { members }: TeamSetup,
  { turns, usage, status }: SeenTask = unseen,
): TaskView {
  const seat = members.find(({ member_id }) => member_id === task.member_id);
  const { delegation_id, member_id, executor_id, title, state, reason, attempts } = task;
  const waitsFor = state === 'running' && status?.state === 'waiting' ? status.waiting_for : null;
  return {
    delegation_id,
    member_id,
    executor_id,
    title,
    state: waitsFor === null ? state : 'waiting',
    reason: waitsFor ?? reason,
    attempts,
    turns,
    usage,
    executor: status?.executor ?? viewUnbegun(seat?.executor ?? { kind: 'agent' }),
  };
}
