import type { Ref } from '../../contracts/ref.ts';
import type { NegotiationDecision } from '../../contracts/spec.ts';

/** What a member puts into the records of the spec. */
export type SpecEvent =
  | ClaimEvent
  | RespondEvent
  | EditEvent
  | DisputeEvent
  /** A round of negotiation is over. */
  | { readonly type: 'round_over' }
  /** The last round is over: what is open becomes dissent. */
  | { readonly type: 'close' };

export interface ClaimEvent {
  readonly type: 'claim';
  readonly member: string;
  readonly registered_by: string;
  readonly section_id: string;
  readonly proposal_ref: Ref;
  /** As in Claim. */
  readonly write_later?: true;
}

export interface RespondEvent {
  readonly type: 'respond';
  readonly member: string;
  readonly claim_id: string;
  /** The revision it was made of. */
  readonly revision: number;
  readonly decision: NegotiationDecision;
  readonly reason_ref: Ref;
  /** With REVISE, else null. */
  readonly revised_ref: Ref | null;
}

export interface EditEvent {
  readonly type: 'edit';
  readonly member: string;
  readonly section_id: string;
  readonly base_version: number;
  readonly status: 'in_progress' | 'done';
  readonly text_ref: Ref;
  /** Of code; else null. */
  readonly language: string | null;
}

/** What an owner made is disputed: it becomes a claim that the others answer. */
export interface DisputeEvent {
  readonly type: 'dispute';
  readonly by: string;
  readonly section_id: string;
  /** The version that is disputed. */
  readonly version: number;
  readonly reason_ref: Ref;
}
