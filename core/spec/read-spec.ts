/**
 * Reads duties, agreements and disputes from the records of a spec.
 *
 * Invariants:
 *   RP1. A member owes an answer to each open claim that it negotiates, has not agreed to, and has not answered in this
 *        round.
 *   RP2. Dissent lists, for each disputed claim, the last position of each member that did not agree to it.
 */
import type {
  Claim,
  Dissent,
  SectionState,
  SpecState,
  PhaseSummary,
} from '../../contracts/spec.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

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

/** The records of a spec for a model that asks for them. Texts stand in its prompt. */

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

/**
 * Builds the summary of a phase in which every claim was settled at once, from its records: who agreed to what, and what
 * each said about it. A member's summary could only repeat that.
 *
 * @param textOf The text of an artifact that `listSummaryTexts` names.
 * @returns null where a section has no settled claim: then a member sums up.
 */
export function summariseRecords(
  spec: SpecState,
  textOf: (ref: Ref) => string,
): PhaseSummary | null {
  const settled = spec.sections.flatMap(({ section_id }) => findSettled(spec, section_id) ?? []);
  if (settled.length < spec.sections.length) return null;
  return {
    decisions: settled.map((claim) => ({
      section_id: claim.section_id,
      decision: cutText(describeSettled(claim, textOf), engineLimits.summaryEntryCharsMax),
    })),
    open_questions: [],
    artifacts: settled
      .filter(({ write_later }) => write_later !== true)
      .map(({ section_id }) => ({ section_id, artifact: 'Its whole text, as it was agreed.' })),
  };
}

/** Lists what `summariseRecords` reads. */
export function listSummaryTexts({ claims }: SpecState): readonly Ref[] {
  return claims.flatMap(({ responses }) => responses.map(({ reason_ref }) => reason_ref));
}

function describeSettled(claim: Claim, textOf: (ref: Ref) => string): string {
  const { member, revision, revised_by, write_later, responses } = claim;
  const changed = revision === 1 ? '' : `, as ${revised_by} revised it`;
  const what =
    write_later === true
      ? `a plan, by which ${member} writes the section`
      : 'the text of the section';
  const said = responses.map((one) => `${one.member}: ${textOf(one.reason_ref)}`);
  return [`All agreed to the proposal of ${member}${changed}. It is ${what}.`, ...said].join(' ');
}
