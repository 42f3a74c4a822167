import type { Ref } from './ref.ts';
import type { SpecState } from './spec.ts';
import type { StateToolName } from './state-call.ts';
import type { TriadMember, TriadPhase, TriadType } from './triad.ts';

/** A text that another member said, where the topology lets this one read it. */
export interface HeardText {
  readonly member: string;
  readonly round: number;
  readonly said_ref: Ref;
}

/** What a member must leave in the records before its turn is over. */
export interface Duties {
  /** claim_ids to answer. */
  readonly answer: readonly string[];
  /** section_ids to register a claim on. Of an orchestrator: before it ends the phase. */
  readonly claim: readonly string[];
  /** At least so many claims, on whichever sections. */
  readonly claims_min: number;
  /** Orchestrator: somebody has to be given a turn, because something is left to do and nobody is at work. */
  readonly assign: boolean;
  /** Critic: section_ids whose proposal or text it has not judged yet. No record is owed for them. */
  readonly check: readonly string[];
  /** section_ids to be `done`. */
  readonly finish: readonly string[];
  /** Whether it writes the summary of the phase, as soon as no claim is open or no round is left. */
  readonly summary: boolean;
  /** Whether it gives the output of the whole delegation: the turn ends with an agent output. */
  readonly output: boolean;
}

/** One turn of one member: all that it is given, and nothing else. */
export interface TurnBrief {
  readonly type: TriadType;
  readonly phase: TriadPhase;
  readonly member: TriadMember;
  /** Names and roles of all three, in the order of the plan. */
  readonly team: readonly Pick<TriadMember, 'name' | 'role'>[];
  /** Of the phase, from 1. Of an orchestrator: the one that it may open. It is past `rounds_max` when none is left. */
  readonly round: number;
  readonly rounds_max: number;
  /** Of the phase before; null in the first. */
  readonly summary_ref: Ref | null;
  /** Names of the others that are at work meanwhile. */
  readonly at_work: readonly string[];
  /** From the orchestrator of a hierarchical triad; null in the others. */
  readonly instruction_ref: Ref | null;
  /** What it may read of the others since its last turn, oldest first. */
  readonly heard: readonly HeardText[];
  /** What came back to it: edits and answers that others overtook. To an orchestrator, those of its workers. */
  readonly returned: readonly ReturnedRecord[];
  /** The spec at the moment its turn was given out. In a blind round it holds nothing that the others did in it. */
  readonly spec: SpecState;
  readonly duties: Duties;
  /** State tools that its role has in this phase. */
  readonly tools: readonly StateToolName[];
}

/** A record that was made against something that has changed meanwhile, with what stands now. */
export interface ReturnedRecord {
  readonly reason: string;
  /** The text that stands now; null where there is none to show. */
  readonly current_ref: Ref | null;
}
