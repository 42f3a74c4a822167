import type { Ref } from './ref.ts';
import type { Dissent, MemberFailure, SpecState } from './spec.ts';
import type { TriadMember, TriadPhase, TriadType } from './triad.ts';
import type { Usage } from './usage.ts';

export interface TurnRecord {
  /** Number of the turn, from 1, in the order in which turns were given. */
  readonly turn: number;
  readonly member: string;
  readonly round: number;
  /** Null when the member wrote nothing besides its records. */
  readonly said_ref: Ref | null;
}

/** State of a phase, kept in the store and shown in `.planning/<run>/triads/`. */
export interface PhaseReport {
  readonly version: 1;
  readonly type: TriadType;
  readonly reason: string;
  readonly members: readonly TriadMember[];
  readonly phase: TriadPhase;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly status: 'done' | 'failed' | 'stopped';
  /** Number of rounds that began. */
  readonly rounds: number;
  readonly rounds_max: number;
  readonly spec: SpecState;
  readonly turns: readonly TurnRecord[];
  /** The PhaseSummary; null when the phase did not reach it, and for `execute`, which ends with the output. */
  readonly summary_ref: Ref | null;
  /** The AgentOutput of `execute`. */
  readonly output_ref: Ref | null;
  readonly failure: MemberFailure | null;
  readonly usage: Usage;
}

/**
 * Summary of a triad in its delegation's outcome. It is sent with the results of fifty delegations, so `boundTriad`
 * bounds it; the reports hold the whole.
 */
export interface TriadOutcome {
  readonly type: TriadType;
  /** Cut to `triadTextCharsMax`. */
  readonly reason: string;
  /** The members without their lenses. */
  readonly members: readonly Omit<TriadMember, 'lens'>[];
  /** One entry for each attempt at a phase, in order. */
  readonly phases: readonly {
    readonly phase: TriadPhase;
    readonly attempt: number;
    readonly status: PhaseReport['status'];
    readonly rounds: number;
    /** The PhaseReport as JSON. */
    readonly report_ref: Ref;
  }[];
  /** The first `dissentCarriedMax`; the spec of the last report has all. */
  readonly dissent: readonly Dissent[];
  /** Failure of the last attempt, if it failed. Its message is cut to `triadTextCharsMax`. */
  readonly failure: MemberFailure | null;
}

/** Part of a triad's outcome that the planner's decision needs. */
export interface TriadEnd {
  readonly type: TriadType;
  /** The last PhaseReport when something stayed disputed, otherwise null. */
  readonly dissent_ref: Ref | null;
  readonly failure: MemberFailure | null;
}

/** The record that leads to the points which a triad, or the triads of a team, could not settle. */
export type DissentPlace =
  | ({ readonly kind: 'triad' } & Pick<TriadEnd, 'dissent_ref'>)
  | { readonly kind: 'team'; readonly report_ref: Ref };

export interface RecordPhaseInput {
  readonly run_id: string;
  readonly delegation_id: string;
  readonly plan_ref: Ref;
  readonly report: PhaseReport;
}

export interface RecordPhaseResult {
  /** The PhaseReport as JSON. */
  readonly report_ref: Ref;
  /**
   * The AgentOutput of `execute`, with the minority report at the end of its detailed_md when something stayed
   * disputed.
   * Null when the report has none.
   */
  readonly output_ref: Ref | null;
  /**
   * An AgentOutput with the sections so far and the summary of a phase that ended well, for a triad that ends here. Absent
   * without any, and for an `execute` that ended well.
   */
  readonly unfinished_ref?: Ref;
  /** The same as text. Only in histories that are older than `unfinished_ref`. */
  readonly partial_ref?: Ref;
}
