import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { ReturnedRecord, TurnBrief } from '../../contracts/member-turn.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { TriadMember, TriadPhase, TriadTimeouts, TriadType } from '../../contracts/triad.ts';
import type { TurnRecord } from '../../contracts/triad-run.ts';
import type { SpecEvent } from '../spec/step-spec.ts';

/** A triad as it works: the plan's, with every default filled in. */
export interface TriadSetup {
  readonly type: TriadType;
  readonly reason: string;
  /** In the order of their roles. */
  readonly members: readonly TriadMember[];
  readonly rounds_max: number;
  readonly section_ids: readonly string[];
  readonly timeouts: Required<TriadTimeouts>;
}

/** A turn to be taken now. */
export interface TurnOrder {
  /** From 1. Unique in the phase. */
  readonly turn: number;
  readonly brief: TurnBrief;
}

/** What the orchestrator of a hierarchical triad gives out. */
export interface Assignment {
  readonly member: string;
  readonly instruction_ref: Ref;
}

/** A turn that is over, with what it leaves in the records. */
export interface FinishedTurn {
  readonly turn: number;
  readonly said_ref: Ref | null;
  /** In the order in which they were made; judged once more where they are taken. */
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
}

/** What a phase is after: each is one kind of turn. */
export type PhaseStage = 'working' | 'summarising' | 'ended';

/** Small enough for history. Everything that the next turns depend on. */
export interface PhaseState {
  readonly setup: TriadSetup;
  readonly phase: TriadPhase;
  readonly stage: PhaseStage;
  /** Of the phase, from 1. */
  readonly round: number;
  readonly spec: SpecState;
  /** Of the phase before. */
  readonly summary_ref: Ref | null;
  /** Turns given out so far; they number the next. */
  readonly given_out: number;
  readonly outstanding: readonly TurnOrder[];
  /** Turns that are over and wait for the others that were dispatched with them. */
  readonly waiting: readonly FinishedTurn[];
  /** Turns that are over and taken, in the order in which they were taken. */
  readonly turns: readonly TurnRecord[];
  /** Turns of the current round that are over, by member. */
  readonly done_in_round: readonly string[];
  /** What comes back to a member at its next turn. */
  readonly returned: readonly (ReturnedRecord & { readonly member: string })[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
}

export interface PhaseStep {
  readonly state: PhaseState;
  /** To be started now. Those that are outstanding already are not in it. */
  readonly start: readonly TurnOrder[];
}
