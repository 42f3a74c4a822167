import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { MemberFailure, SpecState } from '../../contracts/spec.ts';
import type { TriadOutline, TriadPhase, TriadPhaseInput } from '../../contracts/triad.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { Purse } from '../../core/budget/purse.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import type { TurnWork } from '../../core/triad/judged-call.ts';
import type { PhaseState } from '../../core/triad/phase-state.ts';
import type { FailureReason } from '../../core/turns/failure-reasons.ts';
import type { Conversation } from '../shared/conversation.ts';

/** What a delegation has its triad's phase do. */
export interface PhaseOrder {
  readonly order: DelegationOrder;
  readonly triad: TriadOutline;
  readonly phase: TriadPhase;
  readonly begin: PhaseBeginning;
  readonly carried: CarriedWork;
}

export type PhaseBeginning =
  | { readonly type: 'open'; readonly spec: SpecState; readonly summary_ref: Ref | null }
  /** Goes on at the turn at which an earlier attempt failed. */
  | { readonly type: 'resume'; readonly state: PhaseState; readonly members: KeptMembers };

/** Of each member that has spoken in the phase, by its name: with the state, all that another attempt needs. */
export type KeptMembers = Readonly<Record<string, KeptMember>>;

export interface KeptMember {
  readonly conversation: Conversation;
  /** Null between two turns. */
  readonly turn: UnfinishedTurn | null;
}

/** A turn that is under way, or was when its phase ended. */
export interface UnfinishedTurn {
  readonly turn: number;
  work: TurnWork;
  /** What the member said in it last. */
  said_ref: Ref | null;
  /** Whether the newest node of its conversation is a reply. */
  is_answered: boolean;
}

/** What passes from phase to phase, because it belongs to the whole delegation. */
export interface CarriedWork {
  /** Null without a budget. */
  readonly purse: Purse | null;
  /** Model calls of each member so far, by its name. */
  readonly calls: Readonly<Record<string, number>>;
  /** As in DelegationOutcome. */
  readonly loaded_details: readonly string[];
  /** What was tried to be changed outside. */
  readonly effects: readonly KnownEffect[];
}

export interface PhaseFailure {
  /** For people: who, where and what. */
  readonly failure: MemberFailure;
  /** For rules and figures. */
  readonly why: FailureReason;
}

export interface PhaseResult {
  readonly status: 'done' | 'failed' | 'stopped';
  readonly state: PhaseState;
  /** Unless it is done. */
  readonly kept: KeptMembers | null;
  readonly failed: PhaseFailure | null;
  readonly carried: CarriedWork;
  /** Of this attempt. */
  readonly usage: Usage;
}

/** A phase started by a delegation gets its order; one started by hand gets a TriadPhaseInput. */
export type TriadPhaseArgs = { readonly order: PhaseOrder } | TriadPhaseInput;
