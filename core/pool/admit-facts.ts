/**
 * The only way into the pool (seed 004 §9): each fact that an agent, the planner or the user states passes here.
 *
 * Invariants:
 *   PF1. The pool is append-only: earlier facts stay unchanged and in place.
 *   PF2. Ids continue from the existing ones, in the order in which the facts were proposed.
 *   PF3. A repetition is refused: admitting the same proposals twice leaves the same pool as once.
 *   PF4. Every key is normalised, and a fact has a value exactly when it has a key.
 *   PF5. A fact that restates a standing assumption is an assumption itself, unless the user states it or `settled_by`
 *        names what settles it. Repeating an assumption does not make it a fact.
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

/** Returns true when an assumption with this value stands and no settled fact does. */
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

/** Normalises key and value. A key that becomes empty is none, and a value without a key can't be compared. */
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
 * Identifies repetitions: the same value of the same key from the same source, in any words and with any confidence.
 * Without a key, the words count.
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
