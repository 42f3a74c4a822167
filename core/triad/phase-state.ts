import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { ReturnedRecord, TurnBrief } from '../../contracts/member-turn.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { TriadMember, TriadPhase, TriadTimeouts, TriadType } from '../../contracts/triad.ts';
import type { TurnRecord } from '../../contracts/triad-run.ts';
import type { SpecEvent } from '../spec/spec-events.ts';

/** A triad as it works: the plan's, with every default filled in. */
export interface TriadSetup {
  readonly type: TriadType;
  readonly reason: string;
  /** In the order of their roles. */
  readonly members: readonly TriadMember[];
  readonly rounds_max: number;
  readonly section_ids: readonly string[];
  readonly timeouts: Readonly<Record<keyof TriadTimeouts, number>>;
}

/** A turn to be taken now. */
export interface TurnOrder {
  /** From 1. Unique in the phase. */
  readonly turn: number;
  /** Turns that were given out together have one number; their records are taken together. */
  readonly dispatch: number;
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

/** A finished turn that waits for the others of its dispatch. */
export interface WaitingTurn {
  readonly order: TurnOrder;
  readonly done: FinishedTurn;
}

/** Small enough for history. Everything that the next turns depend on. */
export interface PhaseState {
  readonly setup: TriadSetup;
  readonly phase: TriadPhase;
  /** `writing`: the work is over, and the writer sums it up or gives the output. */
  readonly stage: 'working' | 'writing' | 'ended';
  /** From 1. Of a hierarchical triad: how often its orchestrator gave out turns, from 0. */
  readonly round: number;
  readonly spec: SpecState;
  /** Of the phase before. */
  readonly summary_ref: Ref | null;
  /** Names of who may have a turn in this round and had none yet, in order. Empty in a hierarchical triad. */
  readonly queue: readonly string[];
  /** From an orchestrator, to be given out. */
  readonly assignments: readonly Assignment[];
  /** Turns and dispatches given out so far; they number the next. */
  readonly turns_given: number;
  readonly dispatches: number;
  readonly outstanding: readonly TurnOrder[];
  readonly waiting: readonly WaitingTurn[];
  /** Turns that are over, in the order in which their texts can be heard. */
  readonly turns: readonly TurnRecord[];
  /** By member: how many of `turns` it has been told of. */
  readonly told: Readonly<Record<string, number>>;
  /** What comes back to a member at its next turn. */
  readonly returned: readonly (ReturnedRecord & { readonly member: string })[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
  /** By section_id: the version of its text that a critic has seen. What was agreed before the phase it has. */
  readonly seen: Readonly<Record<string, number>>;
}

export interface PhaseStep {
  readonly state: PhaseState;
  /** To be started now. Those that are outstanding already are not in it. */
  readonly start: readonly TurnOrder[];
}
