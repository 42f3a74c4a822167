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
import type { Claim, Dissent, NegotiationDecision } from '../../contracts/spec.ts';
import { disputeKey, memberSource } from '../ids.ts';
import { compareText, conflictOf, isTorn } from './find-conflicts.ts';
import type { Conflict, ConflictSide } from './find-conflicts.ts';

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
