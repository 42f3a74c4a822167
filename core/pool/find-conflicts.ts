/**
 * Finds contradictions in a run's pool (seed 004 §8).
 *
 * Invariants:
 *   CO1. Facts conflict exactly when they stand, have one key, and differ in their normalised values.
 *   CO2. The same facts give the same conflicts with the same ids in the same order, whatever the order of a wave's
 *        statements.
 *   CO3. A planner is shown a bounded number of conflicts and of sides of each; each value is shown once before any is
 *        shown twice.
 */
import type { Fact, ProposedFact } from '../../contracts/fact.ts';
import { engineLimits } from '../limits.ts';
import { normaliseFact } from './admit-facts.ts';
import { normaliseValue } from './normalise-fact.ts';

export interface Conflict {
  /** `conflict:<key>`: stable and readable, because the planner resolves the conflict by this name. */
  readonly conflict_id: string;
  readonly key: string;
  /** Facts of the pool in its order, then statements of the wave. */
  readonly sides: readonly ConflictSide[];
}

export interface ConflictSide {
  /**
   * A fact_id. For a statement outside the pool, its author: `wave-002/market-research` or `planner`; in a triad's
   * dispute, the member: `wave-002/market-research/critic`.
   */
  readonly source: string;
  readonly value: string;
  readonly origin: Fact['origin'];
}

/** @param stated Statements that are not in the pool yet. Each is named by its first source. */
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

/** Returns true when the sides have different values. */
export function isTorn(sides: readonly ConflictSide[]): boolean {
  return new Set(sides.map(({ value }) => normaliseValue(value))).size > 1;
}

/**
 * Selects the conflicts that a planner can resolve in one decision.
 *
 * @param disputes Disputes of the wave's triads. They come first, because a conflict between facts is found again after
 * the next wave.
 */
export function chooseConflicts(
  conflicts: readonly Conflict[],
  disputes: readonly Conflict[],
): readonly Conflict[] {
  return [...disputes, ...conflicts].slice(0, engineLimits.conflictsShownMax);
}

/** Selects the sides of a conflict that are shown, in its order. */
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

/** Compares by code units, which is the same on every machine. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
