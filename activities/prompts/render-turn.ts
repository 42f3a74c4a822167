import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Claim } from '../../contracts/spec.ts';
import { findSettled } from '../../core/spec/read-spec.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../text/bytes.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, textBlock } from '../text/blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { markData } from './mark-data.ts';
import { findPlannedText, listCarried, listSections } from '../../core/triad/roles.ts';
import type { HeardText, TurnBrief } from '../../contracts/state-call.ts';

/**
 * Renders what a member is given for one turn: what its brief names, and nothing else of the others. Topology is kept here, by
 * what there is to read, not by asking for discretion.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderTurn(
  store: ArtifactStore,
  delegation: Delegation,
  brief: TurnBrief,
  callKey: string,
): Promise<string> {
  const { round, rounds_max, at_work, duties } = brief;
  const [instruction, heard, returned, spec, claims] = await Promise.all([
    renderInstruction(store, brief.instruction_ref),
    renderHeard(store, brief.heard),
    renderReturned(store, brief.returned),
    renderSpec(store, delegation, brief),
    renderClaims(store, brief.spec.claims),
  ]);
  const fromOthers = [...heard, ...returned, spec, ...claims].join('\n\n');
  return [
    jsonBlock('your_turn', {
      round,
      rounds_max,
      ...(at_work.length > 0 && { at_work }),
      duties,
    }),
    ...instruction.map((block) => markData(block, callKey)),
    markData(fromOthers, callKey),
  ].join('\n\n');
}

async function renderInstruction(store: ArtifactStore, ref: Ref | null): Promise<string[]> {
  if (ref === null) return [];
  return [textBlock('instruction', await store.getText(ref), blockBytesMax.instruction)];
}

async function renderHeard(store: ArtifactStore, heard: readonly HeardText[]): Promise<string[]> {
  if (heard.length === 0) return [];
  const texts = await readTexts(
    store,
    heard.map(({ said_ref }) => said_ref),
  );
  const shown = shorten(texts, blockBytesMax.heard, cutSaid);
  const sections = heard.map(
    ({ member, round }, at) => `# ${member}, round ${round}\n${shown[at] ?? ''}`,
  );
  return [textBlock('heard', sections.join('\n\n'), Infinity)];
}

async function renderReturned(
  store: ArtifactStore,
  returned: TurnBrief['returned'],
): Promise<string[]> {
  if (returned.length === 0) return [];
  const texts = await readTexts(
    store,
    returned.map(({ current_ref }) => current_ref),
  );
  const shown = shorten(texts, blockBytesMax.returned);
  const entries = returned.map(({ reason, current_ref }, at) => ({
    reason,
    current_text: current_ref === null ? null : shown[at],
  }));
  return [jsonBlock('returned', entries)];
}

async function renderSpec(
  store: ArtifactStore,
  delegation: Delegation,
  { spec }: TurnBrief,
): Promise<string> {
  // A section can be finished as agreed only with the proposal by which it has its owner.
  const agreed = spec.sections.map(({ section_id, text_ref }) => {
    const proposal_ref = findSettled(spec, section_id)?.proposal_ref ?? null;
    return proposal_ref === text_ref ? null : proposal_ref;
  });
  const [texts, proposals] = await Promise.all([
    readTexts(
      store,
      spec.sections.map(({ text_ref }) => text_ref),
    ),
    readTexts(store, agreed),
  ]);
  const whole = spec.sections.map(({ section_id, text_ref }, at) =>
    text_ref === null ? findPlannedText(delegation, section_id) : (texts[at] ?? ''),
  );
  const shown = shorten([...whole, ...proposals], blockBytesMax.spec);
  const planned = listSections(delegation);
  const criterionIds = delegation.acceptance_criteria.map(({ criterion_id }) => criterion_id);
  const sections = spec.sections.map(({ section_id, owner, status, version }, at) => ({
    section_id,
    criterion_ids: listCarried(
      planned.find((one) => one.section_id === section_id) ?? { section_id },
      criterionIds,
    ),
    owner,
    status,
    version,
    text: shown[at],
    ...(agreed[at] !== null && { agreed: shown[whole.length + at] }),
  }));
  return jsonBlock('spec', sections);
}

async function renderClaims(store: ArtifactStore, claims: readonly Claim[]): Promise<string[]> {
  const open = claims.filter(({ state }) => state === 'open');
  if (open.length === 0) return [];
  const said = open.flatMap(({ responses }) => responses);
  const [proposals, reasons] = await Promise.all([
    readTexts(
      store,
      open.map(({ proposal_ref }) => proposal_ref),
    ),
    readTexts(store, [
      ...open.map(({ dispute_ref }) => dispute_ref ?? null),
      ...said.map(({ reason_ref }) => reason_ref),
    ]),
  ]);
  const shownProposals = shorten(proposals, blockBytesMax.claims);
  const shownReasons = shorten(reasons, blockBytesMax.claim_reasons);
  const reasonOf = new Map(said.map((one, at) => [one, shownReasons[open.length + at]]));
  const entries = open.map(
    (
      {
        claim_id,
        section_id,
        member,
        about,
        write_later,
        dispute_ref,
        revision,
        revised_by,
        responses,
      },
      at,
    ) => ({
      claim_id,
      section_id,
      member,
      ...(about === 'output' && { disputes: 'the finished text' }),
      ...(dispute_ref !== undefined && { because: shownReasons[at] }),
      ...(write_later === true && { write_later }),
      revision,
      revised_by,
      proposal: shownProposals[at],
      responses: responses.map((response) => ({
        member: response.member,
        decision: response.decision,
        revision: response.revision,
        round: response.round,
        reason: reasonOf.get(response),
      })),
    }),
  );
  return [jsonBlock('claims', entries)];
}

/** Reads texts in their order; empty where there is none. */
function readTexts(store: ArtifactStore, refs: readonly (Ref | null)[]): Promise<string[]> {
  return Promise.all(refs.map(async (ref) => (ref === null ? '' : store.getText(ref))));
}

/** Shortens texts that share a limit, each to its share. */
function shorten(
  texts: readonly string[],
  bytesMax: number,
  cut: (text: string, bytes: number) => string = cutAtLine,
): string[] {
  const shares = shareBytes(texts.map(countBytes), bytesMax);
  return texts.map((text, at) => cut(text, shares[at] ?? 0));
}

function cutSaid(text: string, bytesMax: number): string {
  return cutAtSection(text.trimEnd(), bytesMax, '');
}
