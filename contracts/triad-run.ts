import type { Ref } from './ref.ts';
import type { Dissent, MemberFailure, SpecState } from './spec.ts';
import type { TriadMember, TriadPhase, TriadType } from './triad.ts';
import type { Usage } from './usage.ts';

/** A turn that is over. */
export interface TurnRecord {
  /** From 1, in the order in which they were given out. */
  readonly turn: number;
  readonly member: string;
  readonly round: number;
  /** Null when it said nothing besides its records. */
  readonly said_ref: Ref | null;
}

/** How far a phase has come, as the store keeps it and `.planning/<run>/triads/` shows it. */
export interface PhaseReport {
  readonly version: 1;
  readonly type: TriadType;
  readonly reason: string;
  readonly members: readonly TriadMember[];
  readonly phase: TriadPhase;
  /** From 1. */
  readonly attempt: number;
  readonly status: 'done' | 'failed' | 'stopped';
  /** Rounds that began. */
  readonly rounds: number;
  readonly rounds_max: number;
  readonly spec: SpecState;
  readonly turns: readonly TurnRecord[];
  /** The PhaseSummary; null when the phase did not come so far, and of `execute`, which ends with the output. */
  readonly summary_ref: Ref | null;
  /** The AgentOutput of `execute`. */
  readonly output_ref: Ref | null;
  readonly failure: MemberFailure | null;
  readonly usage: Usage;
}

/**
 * What a delegation's outcome says of its triad. It travels with the results of fifty delegations, so it is bounded by
 * `boundTriad`; the reports hold the whole.
 */
export interface TriadOutcome {
  readonly type: TriadType;
  /** Cut to `triadTextCharsMax`. */
  readonly reason: string;
  /** Without their lenses. */
  readonly members: readonly Omit<TriadMember, 'lens'>[];
  /** One for each attempt at a phase, in their order. */
  readonly phases: readonly {
    readonly phase: TriadPhase;
    readonly attempt: number;
    readonly status: PhaseReport['status'];
    readonly rounds: number;
    /** The PhaseReport as JSON. */
    readonly report_ref: Ref;
  }[];
  /** The first `dissentCarriedMax`; all of it is in the spec of the last report. */
  readonly dissent: readonly Dissent[];
  /** Of the last attempt, when it failed. Its message is cut to `triadTextCharsMax`. */
  readonly failure: MemberFailure | null;
}

/** What the planner's decision has to know of a triad. */
export interface TriadEnd {
  readonly type: TriadType;
  /** The last PhaseReport where something stayed disputed; else null. */
  readonly dissent_ref: Ref | null;
  readonly failure: MemberFailure | null;
}
