/**
 * Changes of files that are not among a run's, because others changed the same lines.
 *
 * Invariants:
 *   LC1. The planner of the next wave and the report hear whose changes are left out, in which files, why, and what can be done.
 *   LC2. So it is with the tasks of a team, of which the planner hears when it decides on their wave.
 *   LC3. Of tasks that are not listed, because their teams left out too many, the number is said.
 */
import { definedOnly } from '../json.ts';
import { listNames } from '../text/list-names.ts';
import type { StoredWave } from '../../contracts/run-record.ts';

/** Changes of a delegation that are not among the run's. */
export interface LeftChanges {
  readonly delegation_id: string;
  /** Wave that found the conflict last. */
  readonly wave: number;
  readonly files: readonly string[];
  readonly reason: string;
  readonly cure: string;
  /** Number of further tasks that are not listed. Absent for none. */
  readonly more?: number;
}

/** A wave with the changes of the same lines that were made in it. */
type ConflictingWave = Pick<StoredWave, 'wave' | 'dropped' | 'merge_conflicts' | 'task_conflicts'>;

/** Lists whose changes contradicted others and are left out, each conflict as it was found last. */
export function listLeftChanges(waves: readonly ConflictingWave[]): readonly LeftChanges[] {
  const dropped = new Set(waves.flatMap((one) => one.dropped ?? []));
  const left = waves.flatMap(({ wave, merge_conflicts = [] }) =>
    merge_conflicts.flatMap(({ delegation_id: later, with: others, files }) => {
      const sides = [later, ...others];
      const out = sides.filter((id) => dropped.has(id));
      const stand = sides.filter((id) => !dropped.has(id));
      if (out.length === 0) return [{ delegation_id: later, wave, files, ...describeOpen(others) }];
      return out.map((delegation_id) => ({ delegation_id, wave, files, ...describeOut(stand) }));
    }),
  );
  const ofTasks = waves.flatMap(({ wave, task_conflicts = [] }) =>
    task_conflicts.map(({ delegation_id, with: others, files, more }) => ({
      delegation_id,
      wave,
      files,
      ...describeTask(delegation_id, others),
      ...definedOnly({ more }),
    })),
  );
  const keyOf = ({ delegation_id, files }: LeftChanges): string =>
    [delegation_id, ...files].join('\n');
  return [...new Map([...left, ...ofTasks].map((one) => [keyOf(one), one])).values()];
}

/** A task whose team left its changes out. The team's own copy has the changes of the other tasks too, so these are named. */
function describeTask(id: string, others: readonly string[]): Pick<LeftChanges, 'reason' | 'cure'> {
  const tasks = others.filter((one) => !id.startsWith(`${one}.`));
  return {
    reason: `${listNames(tasks.length === 0 ? others : tasks)} changed the same lines and came first; the leader of the team was told`,
    cure: 'Try: where these changes are still wanted and the team did not make them anew, a further delegation that makes them on top of what stands',
  };
}

/** A conflict that no decision has settled: the next one is asked about it. */
function describeOpen(others: readonly string[]): Pick<LeftChanges, 'reason' | 'cure'> {
  return {
    reason: `${listNames(others)} changed the same lines, and no decision says which changes stand`,
    cure: 'Try: let a further wave decide which side stands',
  };
}

function describeOut(stand: readonly string[]): Pick<LeftChanges, 'reason' | 'cure'> {
  const which = stand.length === 0 ? 'other delegations' : listNames(stand);
  return {
    reason: `${which} changed the same lines, and a decision let those changes stand`,
    cure: 'Try: where these changes are still wanted, a further delegation that makes them on top of what stands',
  };
}
