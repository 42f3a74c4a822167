import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { MemberFailure, SpecState } from '../../contracts/spec.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import type { TurnWork } from '../../core/triad/judged-call.ts';
import type { PhaseState } from '../../core/triad/phase-state.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { TriadOutline, TriadPhase, TriadPhaseInput } from '../../contracts/triad.ts';

/** Order of a delegation to its triad's phase. */
export interface PhaseOrder {
  readonly order: DelegationOrder;
  readonly triad: TriadOutline;
  readonly phase: TriadPhase;
  readonly begin: PhaseBeginning;
  readonly carried: CarriedWork;
}

export type PhaseBeginning =
  | { readonly type: 'open'; readonly spec: SpecState; readonly summary_ref: Ref | null }
  /** Resumes at the turn in which an earlier attempt failed. */
  | { readonly type: 'resume'; readonly state: PhaseState; readonly members: KeptMembers };

/**
 * State of each member that has made a call in the phase, by name: with the phase's state, all that another attempt
 * needs.
 */
export type KeptMembers = Readonly<Record<string, KeptMember>>;

export interface KeptMember {
  readonly conversation: Conversation;
  /** Null between two turns. */
  readonly turn: UnfinishedTurn | null;
}

/** A turn that is running, or was when its phase ended. */
export interface UnfinishedTurn {
  readonly turn: number;
  work: TurnWork;
  /** The member's last text in the turn. */
  said_ref: Ref | null;
  /** True when the newest node of its conversation is a reply. */
  is_answered: boolean;
}

/** State that passes from phase to phase, because it belongs to the whole delegation. */
export interface CarriedWork {
  /** Null without a budget. */
  readonly budget: BudgetNode | null;
  /** Number of model calls of each member so far, by name. */
  readonly calls: Readonly<Record<string, number>>;
  /** Defined in DelegationOutcome. */
  readonly loaded_details: readonly string[];
  /** Attempts to change something outside. */
  readonly effects: readonly KnownEffect[];
}

export interface PhaseFailure {
  /** Text for people: member, phase and message. */
  readonly failure: MemberFailure;
  /** Reason for rules and metrics. */
  readonly why: FailureReason;
}

export interface PhaseResult {
  readonly status: 'done' | 'failed' | 'stopped';
  readonly state: PhaseState;
  /** Null when the phase is done. */
  readonly kept: KeptMembers | null;
  readonly failed: PhaseFailure | null;
  readonly carried: CarriedWork;
  /** Use of this attempt. */
  readonly usage: Usage;
}

/** A phase started by a delegation gets its order; one started by hand gets a TriadPhaseInput. */
export type TriadPhaseArgs = { readonly order: PhaseOrder } | TriadPhaseInput;
