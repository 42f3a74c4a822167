import type { SpecState } from '../../contracts/spec.ts';
import type { NegotiationDecision } from '../../contracts/spec.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';

/** What a member puts into the records of the spec. */
export type SpecEvent =
  | {
      readonly type: 'claim';
      readonly member: string;
      readonly registered_by: string;
      readonly section_id: string;
      readonly proposal_ref: Ref;
    }
  | {
      readonly type: 'respond';
      readonly member: string;
      readonly claim_id: string;
      /** The revision that it had before it. */
      readonly revision: number;
      readonly decision: NegotiationDecision;
      readonly reason_ref: Ref;
      /** With REVISE, else null. */
      readonly revised_ref: Ref | null;
    }
  | {
      readonly type: 'edit';
      readonly member: string;
      readonly section_id: string;
      readonly base_version: number;
      readonly status: 'in_progress' | 'done';
      readonly text_ref: Ref;
      /** Of code; else null. */
      readonly language: string | null;
    }
  | {
      /** The owner's text is disputed by the orchestrator: it becomes a claim that the others answer. */
      readonly type: 'dispute';
      readonly by: string;
      readonly section_id: string;
      readonly proposal_ref: Ref;
    }
  /** A round of negotiation is over. */
  | { readonly type: 'round_over' }
  /** The last round is over: what is open becomes dissent. */
  | { readonly type: 'close' };

export type SpecResult =
  | { readonly ok: true }
  /** `stale`: it was made against what has changed meanwhile; `current_ref` is what stands now. */
  | {
      readonly ok: false;
      readonly stale: boolean;
      readonly fault: OutputFault;
      readonly current_ref: Ref | null;
    };

export interface SpecStep {
  readonly state: SpecState;
  readonly result: SpecResult;
}
