import type { ReferenceRun } from './reference-run.ts';
import { runWithDesign } from './with-design.ts';
import { runWithTeam } from './with-team.ts';
import { runWithTriad } from './with-triad.ts';

/** The run that is hurt unless one of another is asked for. */
export const standardRun = runWithTriad;

const runs: readonly ReferenceRun[] = [runWithTriad, runWithTeam, runWithDesign];

/** Ids of the delegations whose moments may be asked for. */
export const taskIds: readonly string[] = runs.flatMap((run) => run.taskIds);

/** The run that has this delegation. @param task if undefined, the one that is hurt as a whole. */
export function runOf(task: string | undefined): ReferenceRun {
  return runs.find((run) => task !== undefined && run.taskIds.includes(task)) ?? standardRun;
}
