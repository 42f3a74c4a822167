import type { Ref } from './ref.ts';
import type { TriadPhase } from './triad.ts';
import { z } from 'zod';

/** The spec of a triad. Texts are references; the rest is small enough for history. */
export interface SpecState {
  /** The members whose agreement settles a claim, in the order of the triad. */
  readonly negotiators: readonly string[];
  /** Listed in the order of the plan. */
  readonly sections: readonly SectionState[];
  /** Listed in the order of registration. */
  readonly claims: readonly Claim[];
  /** Finished rounds of negotiation. */
  readonly rounds: number;
}

export interface SectionState {
  readonly section_id: string;
  /** The member whose claim on it was settled. */
  readonly owner: string | null;
  /** `done`: its text is the output. */
  readonly status: 'open' | 'in_progress' | 'done';
  /** Number of the version, from 1 for the text of the plan. Each accepted edit adds one. */
  readonly version: number;
  /** Null while the text is the plan's. */
  readonly text_ref: Ref | null;
  /** Programming language of code. */
  readonly language: string | null;
}

/** A member's statement "this section is mine, and this is what I propose", or an owner's disputed result. */
export interface Claim {
  /** `<section_id>.<member>`, or `<section_id>.output` for an owner's result: independent of the order of claims. */
  readonly claim_id: string;
  readonly section_id: string;
  readonly member: string;
  /** The member that registered it: the claimant, or the orchestrator for a worker. */
  readonly registered_by: string;
  /** `output`: the text of a section is disputed, not its ownership. */
  readonly about: 'ownership' | 'output';
  /** Number of the revision, from 1. Each accepted REVISE adds one. */
  readonly revision: number;
  /** The author of the newest revision. */
  readonly revised_by: string;
  readonly proposal_ref: Ref;
  /**
   * True when the proposal is a plan: its member writes the section once it is settled. Absent: the proposal is the
   * text of the section.
   */
  readonly write_later?: true;
  /** The contradiction in an output, in the words of the member that disputes it. */
  readonly dispute_ref?: Ref;
  /**
   * `withdrawn`: its member conceded a rival claim, or a rival claim was settled. `dissent`: disputed in the last
   * round.
   */
  readonly state: 'open' | 'settled' | 'withdrawn' | 'dissent';
  /** Listed in the order in which they were taken. */
  readonly responses: readonly ClaimResponse[];
}

export type NegotiationDecision = 'CONCEDE' | 'REVISE' | 'HOLD';

export interface ClaimResponse {
  readonly member: string;
  /** The revision that was answered. */
  readonly revision: number;
  readonly round: number;
  readonly decision: NegotiationDecision;
  readonly reason_ref: Ref;
}

/** A claim that stayed disputed, for the minority report and for the planner. */
export interface Dissent {
  readonly section_id: string;
  readonly claim_id: string;
  readonly member: string;
  readonly about: Claim['about'];
  readonly revision: number;
  readonly proposal_ref: Ref;
  /** Defined in Claim. */
  readonly dispute_ref?: Ref;
  /** The last position of each member that did not agree; `decision` is null when it never answered. */
  readonly positions: readonly {
    readonly member: string;
    readonly decision: NegotiationDecision | null;
    readonly reason_ref: Ref | null;
  }[];
}

/** A member's failure: it ends its phase at once (seed 000: summary and error context, no trace). */
export interface MemberFailure {
  /** The member's name. */
  readonly agent: string;
  readonly phase: TriadPhase;
  readonly message: string;
}

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
