import type { AttemptWork } from '../activities/attempt/attempt-work.ts';
import { namePath } from '../core/ids.ts';

/** Whose work it is, as logs and traces name it beside run, wave and delegation. */
export interface WorkPlace {
  readonly agent?: string;
  /** As in `Place`: the path of names of a team's task. Absent for work that is none. */
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
