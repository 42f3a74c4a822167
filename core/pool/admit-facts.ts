/**
 * The one gate into the pool (seed 004 §9): whatever an agent, the planner or the user states passes here.
 *
 * Invariants:
 *   PF1. The pool is append-only: what was there stays as it was, in its place.
 *   PF2. Ids count on from those that are there, in the order in which the facts were proposed.
 *   PF3. A repeat is refused: the same proposals twice leave the pool that they leave once.
 *   PF4. Every key is normalised, and a fact has a value exactly when it has a key.
 *   PF5. What restates an assumption that stands is an assumption itself, unless the user says it, or `settled_by` tells
 *        what settles it. Nobody makes a fact of it by saying it again.
 */
import type { Fact, ProposedFact } from '../../contracts/fact.ts';
import { factId } from '../ids.ts';
import { isSameValue, normaliseKey, normaliseValue } from './normalise-fact.ts';

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
    const restates = !isSettled(one) && restatesAssumption(fact, [...pool, ...admitted]);
    admitted.push({
      fact_id: factId(pool.length + admitted.length + 1),
      ...fact,
      is_assumption: fact.is_assumption || restates,
      superseded_by: null,
      recorded_at: now,
    });
  }
  return admitted.length === 0 ? pool : [...pool, ...admitted];
}

function isSettled({ origin, settled_by = '' }: ProposedFact): boolean {
  return origin === 'user' || settled_by.trim() !== '';
}

/** Whether an assumption stands that says the same, and no fact does. */
function restatesAssumption({ key, value }: ProposedFact, pool: readonly Fact[]): boolean {
  if (key === null || value === null) return false;
  const same = pool.filter(
    (fact) =>
      fact.superseded_by === null &&
      fact.key === key &&
      fact.value !== null &&
      isSameValue(fact.value, value),
  );
  return same.length > 0 && same.every((fact) => fact.is_assumption);
}

/** A key of which nothing is left is none. A value without a key could not be compared with anything. */
export function normaliseFact(proposed: ProposedFact): ProposedFact {
  const { key, value, statement, confidence, is_assumption, origin, settled_by = '' } = proposed;
  const evidence = settled_by.trim();
  const normalised = key === null || value === null ? null : normaliseKey(key);
  return {
    key: normalised,
    value: normalised === null ? null : value,
    statement,
    source_refs: evidence === '' ? proposed.source_refs : [...proposed.source_refs, evidence],
    confidence,
    is_assumption,
    origin,
  };
}

/**
 * Who says the same of the same thing from the same place repeats it, in whatever words and however sure; without a key,
 * words count.
 */
function identify({
  key,
  value,
  statement,
  source_refs,
  is_assumption,
  origin,
}: ProposedFact): string {
  const said =
    key === null || value === null ? [is_assumption, statement] : [key, normaliseValue(value)];
  return JSON.stringify([origin, source_refs, said]);
}
