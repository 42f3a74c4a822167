import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { NegotiationDecision, SpecState } from '../../contracts/spec.ts';
import { listNames } from '../text/list-names.ts';

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

type SpecResult =
  | { readonly ok: true }
  /**
   * `stale`: based on a version that has changed since; `current_ref` is the present one, null where it is the plan's.
   */
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

export function take(state: SpecState): SpecStep {
  return { state, result: { ok: true } };
}

export function refuse(state: SpecState, path: string, reason: string, hint: string): SpecStep {
  return {
    state,
    result: { ok: false, stale: false, fault: { path, reason, hint }, current_ref: null },
  };
}

export function stale(
  state: SpecState,
  path: string,
  reason: string,
  current_ref: Ref | null,
): SpecStep {
  const hint = 'Try: look at what stands now, and decide again';
  return { state, result: { ok: false, stale: true, fault: { path, reason, hint }, current_ref } };
}

export function refuseSection(state: SpecState, sectionId: string): SpecStep {
  const ids = state.sections.map(({ section_id }) => section_id);
  const reason = `the spec has no section "${sectionId}"`;
  return refuse(state, 'section_id', reason, `Try: one of ${listNames(ids)}`);
}

export function refuseMember(state: SpecState, path: string, member: string): SpecStep {
  const reason = `"${member}" does not negotiate in this triad`;
  return refuse(state, path, reason, `Try: one of ${listNames(state.negotiators)}`);
}
