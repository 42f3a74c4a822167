import type { Ref } from '../../contracts/ref.ts';
import type { NegotiationDecision } from '../../contracts/spec.ts';

/** Events that change the records of the spec. */
export type SpecEvent =
  | ClaimEvent
  | RespondEvent
  | EditEvent
  | DisputeEvent
  /** A round of negotiation has ended. */
  | { readonly type: 'round_over' }
  /** The last round has ended: open claims become dissent. */
  | { readonly type: 'close' };

export interface ClaimEvent {
  readonly type: 'claim';
  readonly member: string;
  readonly registered_by: string;
  readonly section_id: string;
  readonly proposal_ref: Ref;
  /** Defined in Claim. */
  readonly write_later?: true;
}

export interface RespondEvent {
  readonly type: 'respond';
  readonly member: string;
  readonly claim_id: string;
  /** The revision that the member answered. */
  readonly revision: number;
  readonly decision: NegotiationDecision;
  readonly reason_ref: Ref;
  /** Set with REVISE, otherwise null. */
  readonly revised_ref: Ref | null;
}

export interface EditEvent {
  readonly type: 'edit';
  readonly member: string;
  readonly section_id: string;
  readonly base_version: number;
  readonly status: 'in_progress' | 'done';
  readonly text_ref: Ref;
  /** Programming language of code, otherwise null. */
  readonly language: string | null;
}

/** Disputes an owner's result: it becomes a claim that the others answer. */
export interface DisputeEvent {
  readonly type: 'dispute';
  readonly by: string;
  readonly section_id: string;
  /** The disputed version. */
  readonly version: number;
  readonly reason_ref: Ref;
}
