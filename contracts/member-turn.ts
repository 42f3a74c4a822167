import type { Ref } from './ref.ts';
import type { TriadPhase, TriadMember, TriadType } from './triad.ts';
import type { StateToolName } from './state-call.ts';
import type { SpecState } from './spec.ts';

/** A text of another member that the topology lets this one read. */
export interface HeardText {
  readonly member: string;
  readonly round: number;
  readonly said_ref: Ref;
}

/** Records that a member must make before its turn ends. */
export interface Duties {
  /** claim_ids to answer. */
  readonly answer: readonly string[];
  /** section_ids to register a claim on. For an orchestrator: before it ends the phase. */
  readonly claim: readonly string[];
  /** Least number of claims, on any sections. */
  readonly claims_min: number;
  /** Orchestrator: it has to give a turn, because work is left and no member is working. */
  readonly assign: boolean;
  /** Critic: section_ids whose proposal or text it has not judged yet. No record is owed for them. */
  readonly check: readonly string[];
  /** section_ids to be `done`. */
  readonly finish: readonly string[];
  /** True for the member that writes the summary of the phase, as soon as no claim is open or no round is left. */
  readonly summary: boolean;
  /** True for the member that gives the output of the whole delegation: its turn ends with an agent output. */
  readonly output: boolean;
}

/** Complete input of one turn of one member. */
export interface TurnBrief {
  readonly type: TriadType;
  readonly phase: TriadPhase;
  readonly member: TriadMember;
  /** Names and roles of all three, in the order of the plan. */
  readonly team: readonly Pick<TriadMember, 'name' | 'role'>[];
  /**
   * Round of the phase, from 1. For an orchestrator, the round that it may open: beyond `rounds_max` when none is left.
   */
  readonly round: number;
  readonly rounds_max: number;
  /** Summary of the phase before; null in the first. */
  readonly summary_ref: Ref | null;
  /** Names of the other members at work. */
  readonly at_work: readonly string[];
  /** Instruction of the orchestrator of a hierarchical triad; null in the others. */
  readonly instruction_ref: Ref | null;
  /** Texts of the others that it may read since its last turn, oldest first. */
  readonly heard: readonly HeardText[];
  /** Its outdated edits and answers. For an orchestrator, those of its workers too. */
  readonly returned: readonly ReturnedRecord[];
  /** The spec at the start of its turn. In a blind round it holds no record of the others' turns. */
  readonly spec: SpecState;
  readonly duties: Duties;
  /** State tools that its role has in this phase. */
  readonly tools: readonly StateToolName[];
}

/** A record that was based on an outdated version, with the present one. */
export interface ReturnedRecord {
  readonly reason: string;
  /** The present text; null when there is none to show. */
  readonly current_ref: Ref | null;
}
