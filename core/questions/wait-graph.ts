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

/**
 * Chooses the next of several askers.
 *
 * @param askers Their delegation_ids in the order of asking.
 * @returns the place in the list; 0 when it is empty.
 */
export function chooseAsker(askers: readonly string[], entries: readonly Waiting[]): number {
  const unended = entries.filter(({ state }) => !hasEnded(state));
  const counts = askers.map((id) => listDependents([id], unended).length);
  return Math.max(0, counts.indexOf(Math.max(...counts)));
}

/** Wait for results that are to settle questions. Both are delegation_ids. */
export interface AwaitedResults {
  readonly asker: string;
  readonly results: readonly string[];
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
  const unended = entries.filter(({ state }) => !hasEnded(state));
  const ids = new Set(unended.map(({ delegation_id }) => delegation_id));
  const edgesOf = ({ delegation_id, depends_on }: Waiting): string[] =>
    [
      ...awaited.flatMap((one) => (one.asker === delegation_id ? one.results : [])),
      ...depends_on,
    ].filter((id) => ids.has(id));
  // The search begins with the asker: without its wait there was no cycle.
  const edges = new Map<string, string[]>([[asker, []]]);
  for (const one of unended) edges.set(one.delegation_id, edgesOf(one));
  return findCycle(edges);
}
