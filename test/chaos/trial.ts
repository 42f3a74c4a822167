import type { StoredHistory } from '../support/histories.ts';
import type { Prng } from '../support/prng.ts';
import type { AnswerCounts, AnsweringStyle } from './answering.ts';
import type { Interruption } from './interruption.ts';
import type { RunFacts } from './run-facts.ts';
import type { Harm, SeenCall } from './run-model.ts';
import type { ReferenceRun } from './runs/reference-run.ts';
import type { Strike } from './strike.ts';

/** One run and what is done to it. */
export interface TrialPlan {
  /** Unique in the campaign. */
  readonly name: string;
  readonly run: ReferenceRun;
  readonly strikes: readonly Strike[];
  readonly answering: AnsweringStyle;
  /** How likely a call is answered with a fault, at each of its first two attempts. */
  readonly modelFaultChance: number;
  readonly random: Prng;
  /**
   * Whether a strike whose moment comes while nobody works is done at the next event after that. Default false: it is left
   * for another run.
   */
  readonly strikesLate?: boolean;
  /** Whether other runs have left artifacts in the home of the lane. Default false for a run without harm. */
  readonly isHomeUsed?: boolean;
}

/** Outcome of a run. */
export interface PlayedTrial {
  readonly plan: TrialPlan;
  readonly runId: string;
  readonly fired: readonly Strike[];
  readonly interruptions: readonly Interruption[];
  readonly harm: Harm;
  readonly calls: readonly SeenCall[];
  /** Answers that were sent, by kind; `refused` ones after the run had ended. */
  readonly answers: AnswerCounts;
  /** Null when the run did not end by itself; then `stuck` says where it stands. */
  readonly facts: RunFacts | null;
  readonly stuck: string | null;
  readonly broken: readonly string[];
  /** Times in which the event loop of a worker stood still. */
  readonly stalls: readonly string[];
  /** Bytes by which the home has grown. */
  readonly storeBytes: number;
  readonly histories: readonly StoredHistory[];
}
