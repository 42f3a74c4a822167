/** The records of a spec for a model that asks for them. Texts stand in its prompt. */
import type { Claim, SpecState } from '../../contracts/spec.ts';
import { findClaim } from './read-spec.ts';

/** @returns null when there is no such claim. */
export function describeClaim(spec: SpecState, claimId: string): Record<string, unknown> | null {
  const claim = findClaim(spec, claimId);
  if (claim === undefined) return null;
  return { ...outline(claim), round: spec.rounds + 1, history: claim.responses.map(summarise) };
}

/** @param sectionId Null: of all sections. @returns JSON. */
export function describeClaims(spec: SpecState, sectionId: string | null): string {
  const claims = spec.claims.filter(
    ({ section_id }) => sectionId === null || section_id === sectionId,
  );
  return JSON.stringify(
    claims.map((claim) => ({ ...outline(claim), history: claim.responses.map(summarise) })),
  );
}

function outline({ claim_id, section_id, member, about, revision, revised_by, state }: Claim) {
  const disputes = about === 'output' ? { disputes: 'the finished text' } : {};
  return { claim_id, section_id, member, ...disputes, revision, revised_by, state };
}

function summarise({ member, decision, revision, round }: Claim['responses'][number]): string {
  return `round ${round}: ${member} ${decision} revision ${revision}`;
}
