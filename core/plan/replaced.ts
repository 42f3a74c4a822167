/**
 * Replaced results. A delegation may replace the result of an earlier one.
 *
 * Invariants:
 *   RE1. A result counts until one that replaces it exists; then only the newest counts.
 *   RE2. The newest stands for all that it replaced, directly or indirectly. Cycles end.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';

/** One version of a result. */
type Version = Pick<DelegationOutline, 'delegation_id' | 'replaces'>;

/** Returns the versions that no other version replaces, in their order. */
export function dropReplaced<V extends Version>(versions: readonly V[]): V[] {
  const replaced = new Set(versions.map((one) => one.replaces));
  return versions.filter(({ delegation_id }) => !replaced.has(delegation_id));
}

/** Returns the outcomes whose results count. A version that did not complete replaces nothing. */
export function dropReplacedOutcomes<O extends Version & Ended>(outcomes: readonly O[]): O[] {
  const done = outcomes.filter((one) => one.status === 'completed' && one.output_ref !== null);
  const replaced = new Set(done.map((one) => one.replaces));
  return outcomes.filter(({ delegation_id }) => !replaced.has(delegation_id));
}

type Ended = Pick<DelegationOutcome, 'status' | 'output_ref'>;

/** Returns the delegation_ids that a version stands for besides its own, newest first. */
export function listReplaced({ replaces }: Version, versions: readonly Version[]): string[] {
  const byId = new Map(versions.map((one) => [one.delegation_id, one]));
  const replaced: string[] = [];
  for (let id = replaces; id !== undefined && !replaced.includes(id); id = byId.get(id)?.replaces) {
    replaced.push(id);
  }
  return replaced;
}
