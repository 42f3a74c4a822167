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
import type { Claim, Dissent, NegotiationDecision } from '../../contracts/spec.ts';
import { disputeKey, memberSource } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import { normaliseFact, normaliseValue } from './admit-facts.ts';
import type { Fact, ProposedFact } from '../../contracts/agent-output.ts';

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

/**
 * Turns points that the members of triads could not settle into conflicts, which the planner's decision resolves by
 * name. They are not in the pool: each is decided once, in the decision on its wave.
 *
 * Invariants:
 *   TD1. A section with a claim that stayed disputed is one dispute. Its sides are the members, each once with all its
 *        positions. The author of the current proposal stands for it; a member that did not agree stands against it.
 *   TD2. The same records give the same disputes with the same ids in the same order, whatever the order of the
 *        delegations. No dispute has the id of a conflict between facts.
 */

/** Disputed claims in the triad of one delegation. */
export interface TriadDissent {
  readonly delegation_id: string;
  /** Claims of its spec: they name the author of the newest revision. */
  readonly claims: readonly Claim[];
  readonly dissent: readonly Dissent[];
}

export interface Dispute {
  readonly conflict: Conflict;
  readonly delegation_id: string;
  readonly section_id: string;
  /** All disputed claims on the section, in the order of the claims. */
  readonly dissent: readonly Dissent[];
}

/** @returns the disputes, ordered by id. */
export function findDisputes(wave: number, triads: readonly TriadDissent[]): readonly Dispute[] {
  return triads
    .flatMap((triad) => disputesOf(wave, triad))
    .toSorted((a, b) => compareText(a.conflict.key, b.conflict.key));
}

function disputesOf(wave: number, { delegation_id, claims, dissent }: TriadDissent): Dispute[] {
  const sections = new Set(dissent.map(({ section_id }) => section_id));
  return [...sections].flatMap((section_id) => {
    const disputed = dissent.filter((one) => one.section_id === section_id);
    const sides = sidesOf(disputed, claims, (member) => memberSource(wave, delegation_id, member));
    if (!isTorn(sides)) return [];
    const conflict = conflictOf(disputeKey(delegation_id, section_id), sides);
    return [{ conflict, delegation_id, section_id, dissent: disputed }];
  });
}

function sidesOf(
  disputed: readonly Dissent[],
  claims: readonly Claim[],
  sourceOf: (member: string) => string,
): ConflictSide[] {
  const stands = new Map<string, string[]>();
  const add = (member: string, stand: string): void => {
    stands.set(member, [...(stands.get(member) ?? []), stand]);
  };
  for (const { claim_id, member, positions } of disputed) {
    const against = new Set(positions.map((one) => one.member));
    const reviser = claims.find((one) => one.claim_id === claim_id)?.revised_by ?? member;
    for (const one of new Set([member, reviser])) {
      if (!against.has(one)) add(one, `claim ${claim_id}`);
    }
    for (const { member: other, decision } of positions) {
      add(other, `${standsAgainst(decision)} ${claim_id}`);
    }
  }
  return [...stands].map(([member, stood]) => ({
    source: sourceOf(member),
    value: stood.join(', '),
    origin: 'agent',
  }));
}

function standsAgainst(decision: NegotiationDecision | null): string {
  switch (decision) {
    case 'HOLD':
    case 'REVISE':
      return decision;
    case 'CONCEDE':
      return 'CONCEDE to an earlier';
    case null:
      return 'no answer to';
  }
}
