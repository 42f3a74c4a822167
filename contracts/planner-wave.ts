import { z } from 'zod';
import type { Taint } from './agent-definition.ts';
import type { BudgetAccount, CarriedBudget } from './budget.ts';
import { ReadDelegation } from './delegation.ts';
import type { DelegationOutcome } from './delegation-run.ts';
import { limitMaxima } from './limit-maxima.ts';
import type { ModeChoice } from './limits.ts';
import type { KnownAnswer } from './question.ts';
import type { LoneAnswer, RunKnowledge, WorkTerms } from './planner-run.ts';
import type { NewsItem } from './messages.ts';
import type { Ref } from './ref.ts';
import { NamedTeams } from './team.ts';
import type { KnownSpent, Usage } from './usage.ts';
import type { WaveDecisionOutline, WavePlanOutline } from './wave-plan.ts';
import type { DelegationChange, MergeConflict } from './effect.ts';
import type { VerifierTriad } from './verification.ts';
import { runSettings } from './limits.ts';
import type { CriterionState } from './criterion.ts';

/** Typed input that starts a single wave. Without `delegations` the planner plans it. */
export const PlannerWaveInput = z.strictObject({
  goal: z.string().trim().min(1, 'expected a goal. Try: {"goal":"…"}').max(100_000),
  constraints: z.array(z.string().min(1).max(4_000)).max(50).optional(),
  delegations: z.array(ReadDelegation).min(1).max(limitMaxima.max_delegations).optional(),
  /** false: every delegation is done by one agent. Default true. */
  triads: z.boolean().optional(),
  /** Defined in PlannerRunInput. */
  teams: NamedTeams.optional(),
  ...runSettings,
});
export type PlannerWaveInput = z.input<typeof PlannerWaveInput>;

/** The solution architect of a plan, who decides questions of its tasks (seed 003, "Resolution Process"). */
export interface Architect {
  readonly plan_ref: Ref;
  readonly agent_name: string;
  readonly agent_id: string;
  /** agent_name of the verifier of its decisions. */
  readonly verifier_name: string;
  /** agent_id of that one. */
  readonly verified_by: string;
  /** Triad that judges before that one gives the verdict. Absent: no triad does. */
  readonly triad?: VerifierTriad;
}

/** Order of a run to its wave. */
export interface WaveOrder extends WorkTerms, RunKnowledge {
  readonly run_id: string;
  readonly wave: number;
  readonly waves_left: number;
  /** True when its plan decides between direct and designed mode. */
  readonly chooses_mode?: true;
  /** Null when nothing is limited. */
  readonly budget: BudgetAccount | null;
  /** Usage that the run knew of when `budget` was reserved. Absent when nothing is limited. */
  readonly spent?: KnownSpent;
  /** Decisions since `record_ref` was written. */
  readonly news: readonly NewsItem[];
  /** The plan, where it follows from an approved design. Absent: the planner plans. */
  readonly plan?: WavePlanOutline;
  /** Defined in PlanNextWaveResult. */
  readonly sessions?: Readonly<Record<string, Ref>>;
  /** Absent where the plan has none, and where the planner plans. */
  readonly architect?: Architect;
  /** agent_ids of the verifiers of an approved plan, where the planner plans: they verify what it gives out. */
  readonly verifiers?: readonly string[];
  /** Those of them that judge as a triad, by agent_id. Absent: none does. */
  readonly verifier_triads?: Readonly<Record<string, VerifierTriad>>;
  /** Questions with an answer in the record. */
  readonly answered_questions: readonly KnownAnswer[];
  /** Keys of questions that the inbox refuses from now on. Absent: there are none. */
  readonly refused_questions?: readonly string[];
}

/** A wave started by a run gets its order; one started by hand gets a PlannerWaveInput. */
export type PlannerWaveArgs = { readonly order: WaveOrder } | PlannerWaveInput;

export interface WaveResult {
  readonly wave: number;
  /** `finished`: the run's budget is spent, and the user told it to finish. */
  readonly status: 'decided' | 'stopped' | 'abandoned' | 'finished';
  readonly plan_ref: Ref | null;
  /**
   * The record from which the packets of its delegations were rendered. Null without a plan, because there were none.
   */
  readonly record_ref: Ref | null;
  readonly outcomes: readonly DelegationOutcome[];
  readonly decision: WaveDecisionOutline | null;
  /** Defined in RecordedWave. */
  readonly merge_conflicts?: readonly MergeConflict[];
  /** Defined in RecordedWave. */
  readonly task_conflicts?: readonly MergeConflict[];
  /** Changes of its completed delegations in the user's folder. Absent when there are none. */
  readonly changes?: readonly DelegationChange[];
  /** Fingerprints of the delegations that were started. */
  readonly fingerprints: readonly string[];
  /** State of all criteria after the wave. */
  readonly criteria: readonly CriterionState[];
  /** Use of the whole wave: planner and delegations. */
  readonly usage: Usage;
  /** The newest news item that the planner had when it gave its last output; 0 when it had none besides the record. */
  readonly news_considered: number;
  /** Budget for the rest of the run. */
  readonly budget: CarriedBudget | null;
  /** Mode that its plan calls for; in `designed` nothing of it was given out. Absent where the run does not choose. */
  readonly chosen?: ModeChoice & { readonly plan_ref: Ref };
  /** Properties of the results of this wave and of those before. Absent when they have none. */
  readonly taint?: Taint;
}

/** Result of a wave that a person started. */
export interface LoneWaveResult extends WaveResult, LoneAnswer {}
