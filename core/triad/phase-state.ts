import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { ReturnedRecord, TurnBrief } from '../../contracts/member-turn.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { TriadMember, TriadPhase, TriadTimeouts, TriadType } from '../../contracts/triad.ts';
import type { TurnRecord } from '../../contracts/triad-run.ts';
import type { SpecEvent } from '../spec/spec-events.ts';

/** A triad's configuration: the plan's, with every default filled in. */
export interface TriadSetup {
  readonly type: TriadType;
  readonly reason: string;
  /** Listed in the order of their roles. */
  readonly members: readonly TriadMember[];
  readonly rounds_max: number;
  readonly section_ids: readonly string[];
  readonly timeouts: Readonly<Record<keyof TriadTimeouts, number>>;
}

/** A turn to start now. */
export interface TurnOrder {
  /** Number of the turn, from 1. Unique in the phase. */
  readonly turn: number;
  /** Turns that were given together share one number; their records are taken together. */
  readonly dispatch: number;
  readonly brief: TurnBrief;
}

/** A turn that the orchestrator of a hierarchical triad gives. */
export interface Assignment {
  readonly member: string;
  readonly instruction_ref: Ref;
}

/** A finished turn with its records. */
export interface FinishedTurn {
  readonly turn: number;
  readonly said_ref: Ref | null;
  /** Listed in the order in which they were made; judged again when they are taken. */
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
}

/** A finished turn that waits for the others of its dispatch. */
export interface WaitingTurn {
  readonly order: TurnOrder;
  readonly done: FinishedTurn;
}

/** Everything that the next turns depend on. Small enough for history. */
export interface PhaseState {
  readonly setup: TriadSetup;
  readonly phase: TriadPhase;
  /** `writing`: the work is done, and the writer sums it up or gives the output. */
  readonly stage: 'working' | 'writing' | 'ended';
  /** Number of the round, from 1. In a hierarchical triad the number of times the orchestrator gave turns, from 0. */
  readonly round: number;
  readonly spec: SpecState;
  /** Summary of the phase before. */
  readonly summary_ref: Ref | null;
  /** Names of members that may still have a turn in this round, in order. Empty in a hierarchical triad. */
  readonly queue: readonly string[];
  /** Turns that an orchestrator has assigned and that are not given yet. */
  readonly assignments: readonly Assignment[];
  /** Number of turns and dispatches so far; the next ones are numbered after them. */
  readonly turns_given: number;
  readonly dispatches: number;
  readonly outstanding: readonly TurnOrder[];
  readonly waiting: readonly WaitingTurn[];
  /** Finished turns, in the order in which their texts can be read. */
  readonly turns: readonly TurnRecord[];
  /** Number of `turns` that each member has been given, by name. */
  readonly told: Readonly<Record<string, number>>;
  /** Records that go back to a member at its next turn. */
  readonly returned: readonly (ReturnedRecord & { readonly member: string })[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
  /**
   * Version of each section's text that a critic has seen, by section_id. Texts that were agreed before the phase count
   * as seen.
   */
  readonly seen: Readonly<Record<string, number>>;
}

export interface PhaseStep {
  readonly state: PhaseState;
  /** Turns to start now, without those that are already outstanding. */
  readonly start: readonly TurnOrder[];
}
