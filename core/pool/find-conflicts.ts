/**
 * Contradictions in a run's pool, found by code (seed 004 §8).
 *
 * Invariants:
 *   CO1. Facts conflict exactly when they stand, have one key, and differ in their normalised values.
 *   CO2. The same facts give the same conflicts with the same ids in the same order, in whatever order a wave's
 *        statements came.
 *   CO3. A planner is shown a bounded number of conflicts and of sides of each; every value comes before a value's
 *        second side.
 */
import type { Fact, ProposedFact } from '../../contracts/fact.ts';
import { engineLimits } from '../limits.ts';
import { normaliseFact } from './admit-facts.ts';
import { normaliseValue } from './normalise-fact.ts';

export interface Conflict {
  /** `conflict:<key>`: stable and readable, because the planner resolves it by this name. */
  readonly conflict_id: string;
  readonly key: string;
  /** Facts of the pool in its order, then what the wave states. */
  readonly sides: readonly ConflictSide[];
}

export interface ConflictSide {
  /**
   * A fact_id, or for what is not in the pool yet who states it: `wave-002/market-research`, `planner`. Of a dispute in a
   * triad the member: `wave-002/market-research/critic`.
   */
  readonly source: string;
  readonly value: string;
  readonly origin: Fact['origin'];
}

/** @param stated What is not in the pool yet. Its first source is its name. */
export function findConflicts(
  pool: readonly Fact[],
  stated: readonly ProposedFact[],
): readonly Conflict[] {
  const sides = new Map<string, ConflictSide[]>();
  const add = ({ key, value, origin }: ProposedFact, source: string): void => {
    if (key === null || value === null) return;
    const known = sides.get(key);
    if (known === undefined) sides.set(key, [{ source, value, origin }]);
    else known.push({ source, value, origin });
  };
  for (const fact of pool) if (fact.superseded_by === null) add(fact, fact.fact_id);
  const claims = stated.map(normaliseFact).map((fact) => ({
    fact,
    source: fact.source_refs[0] ?? fact.origin,
  }));
  for (const { fact, source } of claims.toSorted(
    (a, b) =>
      compareText(a.source, b.source) || compareText(a.fact.value ?? '', b.fact.value ?? ''),
  )) {
    add(fact, source);
  }
  return [...sides]
    .filter(([, ofKey]) => isTorn(ofKey))
    .map(([key, ofKey]) => conflictOf(key, ofKey))
    .toSorted((a, b) => compareText(a.key, b.key));
}

export function conflictOf(key: string, sides: readonly ConflictSide[]): Conflict {
  return { conflict_id: `conflict:${key}`, key, sides };
}

/** Whether the sides say different things. */
export function isTorn(sides: readonly ConflictSide[]): boolean {
  return new Set(sides.map(({ value }) => normaliseValue(value))).size > 1;
}

/**
 * What a planner can look at and resolve in one decision.
 *
 * @param disputes Of the wave's triads. They come first: a conflict between facts is found again after the next wave.
 */
export function chooseConflicts(
  conflicts: readonly Conflict[],
  disputes: readonly Conflict[],
): readonly Conflict[] {
  return [...disputes, ...conflicts].slice(0, engineLimits.conflictsShownMax);
}

/** The sides of a conflict that are shown, in its order. */
export function chooseSides({ sides }: Conflict): readonly ConflictSide[] {
  const seen = new Set<string>();
  const firstOfValue = sides.filter(({ value }) => {
    const isNew = !seen.has(normaliseValue(value));
    seen.add(normaliseValue(value));
    return isNew;
  });
  const ranked = [...new Set([...firstOfValue, ...sides])];
  const chosen = new Set(ranked.slice(0, engineLimits.conflictSidesShownMax));
  return sides.filter((side) => chosen.has(side));
}

/** In the order of code units, which is the same everywhere. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
