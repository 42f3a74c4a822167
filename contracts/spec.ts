import type { Ref } from './ref.ts';
import type { TriadPhase } from './triad.ts';

/** What the spec of a triad is made of. Texts are references; what stands here is small enough for history. */
export interface SpecState {
  /** The members whose agreement settles a claim, in the order of the triad. */
  readonly negotiators: readonly string[];
  /** In the order of the plan. */
  readonly sections: readonly SectionState[];
  /** In the order of registration. */
  readonly claims: readonly Claim[];
  /** Rounds of negotiation that are over. */
  readonly rounds: number;
}

export interface SectionState {
  readonly section_id: string;
  /** The member whose claim on it was settled. */
  readonly owner: string | null;
  /** `done`: its text is the output. */
  readonly status: 'open' | 'in_progress' | 'done';
  /** From 1: the text of the plan. Each accepted edit counts one more. */
  readonly version: number;
  /** Null while the text is the plan's. */
  readonly text_ref: Ref | null;
  /** Of code: its language. */
  readonly language: string | null;
}

/** "This section is mine, and this is what I propose", or what a section's owner made of it. */
export interface Claim {
  /** `<section_id>.<member>`, and `<section_id>.output` for what an owner made: the same whoever came first. */
  readonly claim_id: string;
  readonly section_id: string;
  /** Whose it is. */
  readonly member: string;
  /** Who registered it: the member, or the orchestrator for a worker. */
  readonly registered_by: string;
  /** `output`: what was made of a section is disputed, not whose it is. */
  readonly about: 'ownership' | 'output';
  /** From 1. Each REVISE that was taken makes another one. */
  readonly revision: number;
  /** Who wrote the newest revision. */
  readonly revised_by: string;
  readonly proposal_ref: Ref;
  /** The proposal is a plan: when it is settled, its member writes the section. Absent: it is the text of the section. */
  readonly write_later?: true;
  /** Of an output: what it contradicts, in the words of who disputes it. */
  readonly dispute_ref?: Ref;
  /** `withdrawn`: its member conceded a rival claim, or that one was settled. `dissent`: disputed at the last round. */
  readonly state: 'open' | 'settled' | 'withdrawn' | 'dissent';
  /** In the order in which they were taken. */
  readonly responses: readonly ClaimResponse[];
}

export type NegotiationDecision = 'CONCEDE' | 'REVISE' | 'HOLD';

export interface ClaimResponse {
  readonly member: string;
  /** The revision it was said of. */
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
  /** As in Claim. */
  readonly dispute_ref?: Ref;
  /** The last word of each member that did not agree; `decision` is null where it never answered. */
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
