/** The records of a spec for a model that asks for them. Texts stand in its prompt. */
import type { PhaseSummary } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Claim, SpecState } from '../../contracts/spec.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { findClaim, findSettled } from './read-spec.ts';

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
