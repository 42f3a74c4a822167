/**
 * Facts that met under one key although each is about another subject: the decision gives them keys of their own.
 *
 * Invariants:
 *   KA1. What was in the pool stays; a fact under its new key is a new entry that says the same, and the old one is marked
 *        as superseded by it.
 *   KA2. Doing it twice is doing it once.
 *   KA3. What the user said keeps its key.
 */
import type { Fact } from '../../contracts/fact.ts';
import type { PlannerDecision } from '../../contracts/wave-decision.ts';
import { admitFacts } from './admit-facts.ts';
import { isSameValue, normaliseKey } from './normalise-fact.ts';
import { isNamed, keyOfConflict } from './settle-facts.ts';

/** @param now Unix epoch seconds. */
export function keyApart(
  pool: readonly Fact[],
  wave: number,
  resolutions: PlannerDecision['conflicts_resolved'],
  now: number,
): readonly Fact[] {
  return resolutions.reduce((facts, { conflict, keys_apart = [] }) => {
    const key = keyOfConflict(conflict);
    if (key === null) return facts;
    return keys_apart.reduce((all, apart) => {
      const fact = all.find((one) => one.key === key && isNamed(one, apart.source.trim(), wave));
      return fact === undefined ? all : giveKey(all, fact, normaliseKey(apart.key), now);
    }, facts);
  }, pool);
}

function giveKey(
  pool: readonly Fact[],
  fact: Fact,
  key: string | null,
  now: number,
): readonly Fact[] {
  const { origin, superseded_by } = fact;
  if (key === null || key === fact.key || origin === 'user' || superseded_by !== null) return pool;
  const known = admitFacts(pool, [{ ...fact, key }], now);
  const successor = known.find(
    (one) =>
      one.key === key &&
      one.origin === origin &&
      one.source_refs.join() === fact.source_refs.join() &&
      isSameValue(one.value ?? '', fact.value ?? ''),
  );
  if (successor === undefined) return pool;
  return known.map((one) => (one === fact ? { ...one, superseded_by: successor.fact_id } : one));
}
