import { z } from 'zod';
import type { Ref } from './ref.ts';

const sectionOf = z
  .string()
  .max(40)
  .nullable()
  .describe('The section_id it is about; null when it is about the whole.');

/** Everything that one phase passes to the next (seed 000: a structured template for summaries). */
export const PhaseSummary = z.strictObject({
  decisions: z
    .array(z.strictObject({ section_id: sectionOf, decision: z.string().min(1).max(2_000) }))
    .max(40)
    .describe('What was settled, with its reason.'),
  open_questions: z
    .array(z.strictObject({ section_id: sectionOf, question: z.string().min(1).max(2_000) }))
    .max(40)
    .describe('What is not settled: disputed sections, doubts, what nobody knew.'),
  artifacts: z
    .array(z.strictObject({ section_id: sectionOf, artifact: z.string().min(1).max(2_000) }))
    .max(40)
    .describe('What there is already: drafts, sources, code, each in a line.'),
});
export type PhaseSummary = z.infer<typeof PhaseSummary>;

/** Part of a summary that the rules need. */
export interface PhaseSummaryOutline {
  /** The whole PhaseSummary as JSON. */
  readonly summary_ref: Ref;
  /** Sections that a decision names. */
  readonly decided: readonly string[];
  /** Sections that an open question names. */
  readonly open: readonly string[];
}
