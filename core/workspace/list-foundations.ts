/**
 * Decides whose changes belong together: what a delegation builds on, and what the run as a whole has changed.
 *
 * Invariants:
 *   LF1. A delegation builds on the completed delegations of earlier waves, and on what it depends on, in this order.
 *   LF2. No delegation is listed twice, and none builds on itself.
 *   LF3. The run's changes are those of all completed delegations, in the order of their waves.
 *   LF4. Changes that a decision dropped belong to nothing that comes later.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';

/** A wave as far as it says whose work counts. */
export interface EndedWork {
  /** Delegations whose changes a decision dropped. */
  readonly dropped?: readonly string[];
  readonly outcomes: readonly Pick<DelegationOutcome, 'delegation_id' | 'status'>[];
}

/** @returns delegation_ids in the order in which their changes are merged. */
export function listChanges(waves: readonly EndedWork[]): readonly string[] {
  const completed = waves.flatMap(({ outcomes }) =>
    outcomes.filter(({ status }) => status === 'completed'),
  );
  const dropped = new Set(waves.flatMap((wave) => wave.dropped ?? []));
  const ids = completed.map(({ delegation_id }) => delegation_id);
  return [...new Set(ids.filter((id) => !dropped.has(id)))];
}

/** @param upstream delegations that it depends on. */
export function listFoundations(
  delegationId: string,
  waves: readonly EndedWork[],
  upstream: readonly string[],
): readonly string[] {
  const all = new Set([...listChanges(waves), ...upstream]);
  all.delete(delegationId);
  return [...all];
}
