/**
 * Decides by who waits for whom in a running wave: whose questions come next, and which no result will ever settle.
 *
 * Invariants:
 *   WG1. The questions come next whose asker holds up most unfinished work, directly or through others; among equals those
 *        that were asked first.
 *   WG2. A cycle begins and ends with the asker. In it each waits for the next: by the plan, or for a result that is to settle
 *        its questions.
 *   WG3. What has ended waits for nothing, and nothing waits for it.
 */
import { findCycle, listDependents } from '../schedule/dependencies.ts';
import { hasEnded } from '../schedule/schedule.ts';
import type { Entry } from '../schedule/schedule.ts';

export type Waiting = Pick<Entry, 'delegation_id' | 'depends_on' | 'state'>;

/** Wait for results that are to settle questions. Both are delegation_ids. */
export interface AwaitedResults {
  readonly asker: string;
  readonly results: readonly string[];
}

/**
 * Chooses the next of several askers.
 *
 * @param askers Their delegation_ids in the order of asking.
 * @returns the place in the list; 0 when it is empty.
 */
export function chooseAsker(
  askers: readonly string[],
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): number {
  const unended = joinWaits(awaited, entries);
  const counts = askers.map((id) => listDependents([id], unended).length);
  return Math.max(0, counts.indexOf(Math.max(...counts)));
}

/**
 * Finds the cycle that a wait for results would close.
 *
 * @param awaited All such waits, with that of the asker. @returns the path from the asker to itself, as [A, B, A], or null.
 */
export function findWaitCycle(
  asker: string,
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): string[] | null {
  // The search begins with the asker: without its wait there was no cycle.
  const edges = new Map<string, readonly string[]>([[asker, []]]);
  for (const { delegation_id, depends_on } of joinWaits(awaited, entries)) {
    edges.set(delegation_id, depends_on);
  }
  return findCycle(edges);
}

/** Returns what has not ended, each with all that it waits for. */
function joinWaits(
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): readonly Waiting[] {
  const unended = entries.filter(({ state }) => !hasEnded(state));
  const ids = new Set(unended.map(({ delegation_id }) => delegation_id));
  return unended.map((one) => {
    const asked = awaited.flatMap(({ asker, results }) =>
      asker === one.delegation_id ? results : [],
    );
    return { ...one, depends_on: [...asked, ...one.depends_on].filter((id) => ids.has(id)) };
  });
}
