/**
 * The one gate into the pool (seed 004 §9): whatever an agent, the planner or the user states passes here.
 *
 * Invariants:
 *   PF1. The pool is append-only: what was there stays as it was, in its place.
 *   PF2. Ids count on from those that are there, in the order in which the facts were proposed.
 *   PF3. A repeat is refused: the same proposals twice leave the pool that they leave once.
 *   PF4. Every key is normalised, and a fact has a value exactly when it has a key.
 */
import type { Fact, ProposedFact } from '../../contracts/fact.ts';
import { factId } from '../ids.ts';
import { normaliseKey, normaliseValue } from './normalise-fact.ts';

/** @param now Unix epoch seconds. */
export function admitFacts(
  pool: readonly Fact[],
  proposed: readonly ProposedFact[],
  now: number,
): readonly Fact[] {
  const known = new Set(pool.map(identify));
  const admitted: Fact[] = [];
  for (const one of proposed) {
    const fact = normaliseFact(one);
    const identity = identify(fact);
    if (known.has(identity)) continue;
    known.add(identity);
    admitted.push({
      fact_id: factId(pool.length + admitted.length + 1),
      ...fact,
      superseded_by: null,
      recorded_at: now,
    });
  }
  return admitted.length === 0 ? pool : [...pool, ...admitted];
}

/** A key of which nothing is left is none. A value without a key could not be compared with anything. */
export function normaliseFact(proposed: ProposedFact): ProposedFact {
  const { key, value, statement, source_refs, confidence, is_assumption, origin } = proposed;
  const normalised = key === null || value === null ? null : normaliseKey(key);
  return {
    key: normalised,
    value: normalised === null ? null : value,
    statement,
    source_refs,
    confidence,
    is_assumption,
    origin,
  };
}

/** Who says the same of the same thing from the same place repeats it, in whatever words; without a key, words count. */
function identify({
  key,
  value,
  statement,
  source_refs,
  is_assumption,
  origin,
}: ProposedFact): string {
  const said = key === null || value === null ? [statement] : [key, normaliseValue(value)];
  return JSON.stringify([origin, is_assumption, source_refs, said]);
}
