import type { AttemptWork } from '../activities/attempt/attempt-work.ts';
import { namePath, taskOwner } from '../core/ids.ts';

/** Delegation, agent, task and turn of some work, which logs and traces name besides run and wave. */
export interface WorkPlace {
  /** Absent for work of the planner. */
  readonly delegation?: string;
  readonly agent?: string;
  /** Path of names of a team's task, as in `Place`. Absent for other work. */
  readonly task?: string;
  readonly turn?: number;
}

export function placeWork(work: AttemptWork | undefined): WorkPlace {
  if (work === undefined) return {};
  const { agent_id, delegation_id = '', turn } = work;
  const task = namePath(delegation_id);
  return {
    ...(delegation_id !== '' && { delegation: taskOwner(delegation_id) }),
    agent: agent_id,
    ...(task !== '' && { task }),
    ...(turn !== undefined && { turn }),
  };
}
