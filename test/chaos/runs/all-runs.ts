import type { ReferenceRun } from './reference-run.ts';
import { runWithDesign } from './with-design.ts';
import { runWithSeed } from './with-seed.ts';
import { runWithTeam } from './with-team.ts';
import { runWithTriad } from './with-triad.ts';

/** The run that is hurt unless one of another is asked for. */
export const standardRun = runWithTriad;

/** Every run that can be hurt as a whole, by its name. */
const runs: Readonly<Record<string, ReferenceRun>> = {
  triad: runWithTriad,
  team: runWithTeam,
  design: runWithDesign,
  seed: runWithSeed,
};

export const runNames: readonly string[] = Object.keys(runs);

/** Ids of the delegations whose moments may be asked for. */
export const taskIds: readonly string[] = Object.values(runs).flatMap((run) => run.taskIds);

/**
 * Returns the run that is hurt: the one of this name, else the one that has this delegation.
 *
 * @param task if undefined, the run is hurt as a whole.
 */
export function runOf({
  run,
  task,
}: {
  readonly run: string | undefined;
  readonly task: string | undefined;
}): ReferenceRun {
  const named = run === undefined ? undefined : runs[run];
  const having = Object.values(runs).find(
    (one) => task !== undefined && one.taskIds.includes(task),
  );
  return named ?? having ?? standardRun;
}
