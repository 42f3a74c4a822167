/**
 * Changes of the same lines by delegations that did not know of each other, as conflicts that the planner's decision
 * resolves by name.
 *
 * Invariants:
 *   MG1. A conflict has two values: the lines as the delegations before it have them, and as this one does. Each delegation
 *        is a side, named by its id.
 *   MG2. The changes of all sides that give way are dropped, and no others. Without a resolution none is dropped.
 *   MG3. A criterion that only dropped work met is reopened by the same decision.
 *   MG4. A leader hears of a conflict between tasks of its team, with the files, in the result of each new task that is a side of it.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { MergeConflict } from '../../contracts/run-changes.ts';
import type { PlannerDecision, WaveDecision } from '../../contracts/wave-decision.ts';
import { mergeKey } from '../ids.ts';
import { conflictOf } from '../pool/find-conflicts.ts';
import type { Conflict } from '../pool/find-conflicts.ts';
import { keyOfConflict } from '../pool/settle-facts.ts';
import { listNames } from '../text/list-names.ts';

export function conflictOfMerge({ delegation_id, with: others, files }: MergeConflict): Conflict {
  const lines = `lines of ${files.join(', ')}`;
  return conflictOf(mergeKey(delegation_id), [
    ...others.map((source) => ({
      source,
      value: `the earlier ${lines}`,
      origin: 'agent' as const,
    })),
    { source: delegation_id, value: `its own ${lines}`, origin: 'agent' },
  ]);
}

/** @returns ids of the delegations whose changes the resolutions drop. */
export function listDropped(
  conflicts: readonly MergeConflict[],
  resolved: readonly Pick<PlannerDecision['conflicts_resolved'][number], 'conflict' | 'origin'>[],
): readonly string[] {
  const dropped = conflicts.flatMap(({ delegation_id, with: others }) => {
    const entry = resolved.find(
      ({ conflict }) => keyOfConflict(conflict) === mergeKey(delegation_id),
    );
    const stands = entry?.origin.trim() ?? '';
    if (stands === delegation_id) return others;
    return others.includes(stands) ? [delegation_id] : [];
  });
  return [...new Set(dropped)];
}

/** A result of the wave, and the criteria that it meets. */
interface Met {
  readonly delegation_id: string;
  readonly criterion_ids: readonly string[];
}

export function checkReopened(
  dropped: readonly string[],
  results: readonly Met[],
  { criteria_reopened }: Pick<WaveDecision, 'criteria_reopened'>,
): OutputFault[] {
  const reopened = new Set(criteria_reopened.map(({ criterion_id }) => criterion_id));
  const isDropped = ({ delegation_id }: Met): boolean => dropped.includes(delegation_id);
  const standing = new Set(
    results.filter((one) => !isDropped(one)).flatMap((one) => one.criterion_ids),
  );
  return results.filter(isDropped).flatMap(({ delegation_id, criterion_ids }) => {
    const lost = criterion_ids.filter((id) => !standing.has(id) && !reopened.has(id));
    if (lost.length === 0) return [];
    return [
      {
        path: 'criteria_reopened',
        reason: `the changes of ${delegation_id} are dropped, and only they met ${listNames(lost)}`,
        hint: 'Try: reopen each, so that it is met on top of what stands, or let the other side give way',
      },
    ];
  });
}

/** A task of a team, by the leader's name for it. */
interface NamedTask {
  readonly delegation_id: string;
  readonly name: string;
}

/**
 * Tells a team's leader whose changes are left out of the team's.
 *
 * @param ended tasks whose results the leader is about to read.
 * @param all tasks of the team.
 * @returns a text for each task of `ended` that is a side of a conflict, by delegation_id.
 */
export function describeTaskConflicts(
  conflicts: readonly MergeConflict[],
  ended: readonly NamedTask[],
  all: readonly NamedTask[],
): ReadonlyMap<string, string> {
  const find = (tasks: readonly NamedTask[], id: string): NamedTask | undefined =>
    tasks.find(({ delegation_id: own }) => id === own || id.startsWith(`${own}.`));
  const nameOf = (id: string): string => find(all, id)?.name ?? 'the leader';
  const texts = new Map<string, string>();
  for (const { delegation_id, with: others, files } of conflicts) {
    const left = nameOf(delegation_id);
    const names = [...new Set(others.map(nameOf))].filter((name) => name !== left);
    const against = names.length === 0 ? 'its own tasks' : listNames(names);
    const text =
      `The changes of ${listNames([left])} are left out, because ${against} changed the same lines of ${listNames(files)}. ` +
      'Try: a further task with the other one among its inputs, so that it is done on top of those changes.';
    for (const side of [delegation_id, ...others]) {
      const task = find(ended, side);
      if (task !== undefined) {
        const before = texts.get(task.delegation_id);
        texts.set(task.delegation_id, before === undefined ? text : `${before}\n${text}`);
      }
    }
  }
  return texts;
}
