/**
 * Reads duties, agreements and disputes from the records of a spec.
 *
 * Invariants:
 *   RP1. A member owes an answer to each open claim that it negotiates, has not agreed to, and has not answered in this
 *        round.
 *   RP2. Dissent lists, for each disputed claim, the last position of each member that did not agree to it.
 */
import type { Claim, Dissent, SectionState, SpecState } from '../../contracts/spec.ts';

/** Builds an id that does not depend on the order of claims. */
export function ownClaimId(sectionId: string, member: string): string {
  return `${sectionId}.${member}`;
}

export function outputClaimId(sectionId: string): string {
  return `${sectionId}.output`;
}

/** Returns the spec at the start of a triad: no section has an owner. */
export function openSpec(sectionIds: readonly string[], negotiators: readonly string[]): SpecState {
  return {
    negotiators,
    sections: sectionIds.map((section_id) => ({
      section_id,
      owner: null,
      status: 'open',
      version: 1,
      text_ref: null,
      language: null,
    })),
    claims: [],
    rounds: 0,
  };
}

export function findSection(spec: SpecState, sectionId: string): SectionState | undefined {
  return spec.sections.find(({ section_id }) => section_id === sectionId);
}

export function findClaim(spec: SpecState, claimId: string): Claim | undefined {
  return spec.claims.find(({ claim_id }) => claim_id === claimId);
}

/** Returns the claim that gave a section its owner. */
export function findSettled({ claims }: SpecState, sectionId: string): Claim | undefined {
  return claims.find(
    ({ section_id, about, state }) =>
      section_id === sectionId && about === 'ownership' && state === 'settled',
  );
}

export function isOpen({ state }: Claim): boolean {
  return state === 'open';
}

/** Returns the members that agreed to the newest revision: its author, and those that conceded to it. */
export function agreedMembers({ revision, revised_by, responses }: Claim): string[] {
  const conceded = responses.filter(
    (one) => one.revision === revision && one.decision === 'CONCEDE',
  );
  return [revised_by, ...conceded.map(({ member }) => member)];
}

/** Returns claim_ids that wait for an answer of this member, in the order of the claims. */
export function findOwed(spec: SpecState, member: string): string[] {
  if (!spec.negotiators.includes(member)) return [];
  const round = spec.rounds + 1;
  return spec.claims
    .filter(isOpen)
    .filter((claim) => !agreedMembers(claim).includes(member))
    .filter(({ revision, responses }) =>
      responses.every(
        (one) => one.member !== member || one.revision !== revision || one.round !== round,
      ),
    )
    .map(({ claim_id }) => claim_id);
}

/** Returns members that have not agreed to every open claim, whether they answered in this round or not. */
export function findUnagreed(spec: SpecState): string[] {
  const open = spec.claims.filter(isOpen);
  return spec.negotiators.filter((name) =>
    open.some((claim) => !agreedMembers(claim).includes(name)),
  );
}

export function hasOpenClaims(spec: SpecState): boolean {
  return spec.claims.some(isOpen);
}

/** Returns section_ids without an owner and without a claim. */
export function findUnclaimed(spec: SpecState): string[] {
  return spec.sections
    .filter(
      ({ owner, section_id }) =>
        owner === null && !spec.claims.some((one) => one.section_id === section_id),
    )
    .map(({ section_id }) => section_id);
}

/** Returns section_ids that a member owns and has not finished. */
export function findUnfinished(spec: SpecState, member: string): string[] {
  return spec.sections
    .filter(({ owner, status }) => owner === member && status !== 'done')
    .map(({ section_id }) => section_id);
}

/** Returns the version of each section, by section_id. */
export function versionsOf({ sections }: SpecState): Record<string, number> {
  return Object.fromEntries(sections.map(({ section_id, version }) => [section_id, version]));
}

/** Returns section_ids without an agreed output: they have no owner, or their owner's result stayed disputed. */
export function findUnsettled(spec: SpecState): string[] {
  const disputed = new Set(
    spec.claims.filter(({ state }) => state === 'dissent').map(({ section_id }) => section_id),
  );
  return spec.sections
    .filter(({ section_id, owner }) => owner === null || disputed.has(section_id))
    .map(({ section_id }) => section_id);
}

/** Returns the points that stayed disputed, in the order of the claims. */
export function findDissent(spec: SpecState): Dissent[] {
  return spec.claims
    .filter(({ state }) => state === 'dissent')
    .map((claim) => {
      const { section_id, claim_id, member, about, revision, proposal_ref, dispute_ref } = claim;
      const agreed = agreedMembers(claim);
      const positions = spec.negotiators
        .filter((one) => !agreed.includes(one))
        .map((one) => {
          const last = claim.responses.findLast((response) => response.member === one);
          return {
            member: one,
            decision: last?.decision ?? null,
            reason_ref: last?.reason_ref ?? null,
          };
        });
      return {
        section_id,
        claim_id,
        member,
        about,
        revision,
        proposal_ref,
        ...(dispute_ref !== undefined && { dispute_ref }),
        positions,
      };
    });
}
