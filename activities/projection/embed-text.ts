import type { Ref } from '../../contracts/ref.ts';
import type { Claim } from '../../contracts/spec.ts';
import type { LoadedPhase } from './load-phase.ts';
import { embedCode, embedMarkdown } from './markdown.ts';
import { phaseLimits } from './phase-limits.ts';
import { textOf } from './record-texts.ts';

interface TextOptions {
  /** Of code; null of Markdown. */
  readonly language: string | null;
  readonly charsMax: number;
  /** How many levels headings go down. Default 3: below those of a section or a turn. */
  readonly depth?: number;
}

/** A text that a phase's report names, as a part of its file. */
export function embedText(
  ref: Ref,
  { texts }: LoadedPhase,
  { language, charsMax, depth = 3 }: TextOptions,
): string {
  const text = textOf(texts, ref);
  const options = { charsMax, whole: `artifact ${ref}` };
  return language === null
    ? embedMarkdown(text, { ...options, depth })
    : embedCode(text, { ...options, language });
}

/** What a claim proposes. Of one about an output it is the section's own text, which may be code. */
export function embedProposal(
  { about, section_id, proposal_ref }: Pick<Claim, 'about' | 'section_id' | 'proposal_ref'>,
  phase: LoadedPhase,
): string {
  const section = phase.report.spec.sections.find((one) => one.section_id === section_id);
  const isSection = about === 'output' && section?.text_ref === proposal_ref;
  const language = isSection ? section.language : null;
  return embedText(proposal_ref, phase, { language, charsMax: phaseLimits.proposalCharsMax });
}

/** Why somebody answered a claim as it did. */
export function embedReason(reasonRef: Ref, phase: LoadedPhase): string {
  return embedText(reasonRef, phase, {
    language: null,
    charsMax: phaseLimits.reasonCharsMax,
    depth: 5,
  });
}

/** What a disputed output contradicts, as whoever disputed it said. @returns nothing for other claims. */
export function embedDispute(
  { dispute_ref }: Pick<Claim, 'dispute_ref'>,
  phase: LoadedPhase,
): string[] {
  if (dispute_ref === undefined) return [];
  return [`**It was disputed because:**\n${embedReason(dispute_ref, phase)}`];
}
