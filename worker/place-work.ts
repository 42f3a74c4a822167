import type { AttemptWork } from '../activities/agent-turn/attempt-work.ts';
import { namePath } from '../core/ids.ts';

/** Agent, task and turn of some work, which logs and traces name besides run, wave and delegation. */
export interface WorkPlace {
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
    agent: agent_id,
    ...(task !== '' && { task }),
    ...(turn !== undefined && { turn }),
  };
}
