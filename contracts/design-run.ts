import { z } from 'zod';
import type { Adaptation, PlanChangeRating, WorkedTask } from './adaptation.ts';
import type { AgentSummary } from './agent-definition.ts';
import type { BudgetAccount, CarriedBudget } from './budget.ts';
import { CoordinationPlan } from './coordination-plan.ts';
import type { PlanFinding, RosterAgent } from './coordination-plan.ts';
import type { DesignMaterial, DesignReplyOutline } from './design.ts';
import type { RunLimits } from './limits.ts';
import type { NewsItem } from './messages.ts';
import type { OutputFault } from './output-fault.ts';
import type { Ref } from './ref.ts';
import { runSettings } from './run-settings.ts';
import type { Usage } from './usage.ts';
import type { WavePlanOutline } from './wave-plan.ts';

/** Settings of a design, in the input of every workflow that makes one. */
export const designSettings = {
  /** Approves a plan without findings in the user's place. Default false. */
  auto_approve: z.boolean().optional(),
  /** Days for which research on a technology is used again. 0: never. Default 30. */
  research_max_age_days: z.int().min(0).max(3_650).optional(),
};

/** Typed input that starts a design alone: `{"goal":"…"}` is enough. */
export const ArchitectureDesignInput = z.strictObject({
  goal: z.string().trim().min(1, 'expected a goal. Try: {"goal":"…"}').max(100_000),
  constraints: z.array(z.string().min(1).max(4_000)).max(50).optional(),
  ...designSettings,
  ...runSettings,
});
export type ArchitectureDesignInput = z.infer<typeof ArchitectureDesignInput>;

/** Typed input that starts a risk assessment alone: of a plan that exists. */
export const RiskAssessmentInput = z.strictObject({
  plan: CoordinationPlan,
  /** Technologies whose risks need research. */
  technologies: z.array(z.string().min(1).max(80)).max(8).optional(),
  ...designSettings,
  ...runSettings,
});
export type RiskAssessmentInput = z.infer<typeof RiskAssessmentInput>;

/** Part of a coordination plan that the workflows need. The whole is behind `plan_ref`, whose address is its hash. */
export interface PlanOutline {
  readonly plan_ref: Ref;
  readonly agents: readonly Pick<RosterAgent, 'agent_name' | 'agent_id' | 'role'>[];
  readonly tasks: number;
  readonly proofs_of_concept: number;
}

/** Settings of a design, with every field set. */
export interface DesignRequest {
  readonly mode: 'direct' | 'designed';
  readonly auto_approve: boolean;
  readonly research_max_age_days: number;
  /** The plan in the input: approved already for a run, to be assessed for a risk assessment. Null without one. */
  readonly plan: PlanOutline | null;
  readonly technologies: readonly string[];
}

/** Agent of the current plan, with the tasks that it does. */
export interface PlanAgent {
  readonly agent_name: string;
  readonly task_ids: readonly string[];
}

/** State of a design, in the record. */
export interface RecordedDesign {
  /** `assessed`: the end of a risk assessment that was started alone. */
  readonly status: 'designing' | 'assessed' | 'approved' | 'abandoned' | 'stopped' | 'finished';
  /** Results of the finished stages, in the order in which they came. */
  readonly materials: readonly DesignMaterial[];
  /** Every version of the plan, oldest first; the last one is current. */
  readonly plan_refs: readonly Ref[];
  readonly plan_agents: readonly PlanAgent[];
  /** Findings that the current plan has. */
  readonly findings: readonly PlanFinding[];
  /** The question whose answer approved the current plan. Null while it is not approved, and without a question. */
  readonly approved_by: string | null;
  readonly usage: Usage;
  /** Judgements of work and changes of the plan since its approval, oldest first. Absent before the first. */
  readonly adaptations?: readonly Adaptation[];
}

/** Progress of a design since its last report: payload of `designed`, from a design to its run. */
export interface DesignProgress extends Pick<RecordedDesign, 'status' | 'approved_by' | 'usage'> {
  /** Results of stages that have ended since. */
  readonly materials: readonly DesignMaterial[];
  /** Versions of the plan since. */
  readonly plan_refs: readonly Ref[];
  /** Findings that the current plan has. */
  readonly findings: readonly PlanFinding[];
}

/** Finished stages of a design that was lost. The next one takes their results over. */
export interface FinishedStages {
  /** In the order in which they ended. */
  readonly materials: readonly DesignMaterial[];
  /** Versions of the plan that were reported. */
  readonly plan_refs: readonly Ref[];
}

/** Order of a run to its design. */
export interface DesignOrder {
  readonly run_id: string;
  readonly registry_ref: Ref;
  readonly record_ref: Ref;
  readonly agents: readonly AgentSummary[];
  readonly limits: RunLimits;
  /** Null when nothing is limited. */
  readonly budget: BudgetAccount | null;
  readonly amendments: readonly string[];
  /** Decisions since `record_ref` was written. */
  readonly news: readonly NewsItem[];
  readonly auto_approve: boolean;
  readonly research_max_age_days: number;
  /** Unix epoch seconds; part of each task_id. The same for a design that goes on with the work of another. */
  readonly designed_at: number;
  /** Absent for the first design of a run. */
  readonly finished?: FinishedStages;
}

/** A design started by a run gets its order; one started by hand gets an ArchitectureDesignInput. */
export type ArchitectureDesignArgs = { readonly order: DesignOrder } | ArchitectureDesignInput;

export interface DesignResult {
  /** `finished`: the run's budget is spent, and the user told it to finish. */
  readonly status: Exclude<RecordedDesign['status'], 'designing' | 'assessed'>;
  /** The current plan; null when the design ended before it was assembled. */
  readonly plan: PlanOutline | null;
  /** Findings that it has. */
  readonly findings: readonly PlanFinding[];
  /** Defined in RecordedDesign. */
  readonly approved_by: string | null;
  readonly usage: Usage;
  /** Budget for the rest of the run. */
  readonly budget: CarriedBudget | null;
}

export interface AssembleDesignInput {
  readonly record_ref: Ref;
  readonly materials: readonly DesignMaterial[];
  /** Unix epoch seconds; part of each task_id. */
  readonly created_at: number;
}

export interface AssembleDesignResult {
  readonly plan: PlanOutline;
  /** Gaps between the replies. */
  readonly findings: readonly PlanFinding[];
}

export interface RecallStagesInput {
  readonly materials: readonly DesignMaterial[];
}

/** Result of a stage that ended before, as the workflow takes it over. */
export interface RecalledStage extends Pick<DesignMaterial, 'subject'> {
  readonly reply: DesignReplyOutline;
}

export interface CheckDesignInput {
  readonly plan_ref: Ref;
  readonly registry_ref: Ref;
}

/** A change of a plan, by the replies that it follows from. */
export type DesignChangeSource =
  | { readonly type: 'design_change'; readonly ref: Ref }
  /** `ref`: null for a recommendation without proofs of concept, whose risks are added. */
  | { readonly type: 'poc_integration'; readonly recommendation_ref: Ref; readonly ref: Ref | null }
  | { readonly type: 'best_practices'; readonly ref: Ref }
  /** Defined in `checkPlanChange` of `core/design/rate-change.ts`. */
  | {
      readonly type: 'adaptation';
      readonly ref: Ref;
      /** The plan that the work was done by. */
      readonly before_ref: Ref;
      readonly verified: readonly string[];
      readonly failed: string | null;
    };

export interface ChangeDesignInput {
  readonly plan_ref: Ref;
  readonly registry_ref: Ref;
  readonly source: DesignChangeSource;
  /** Unix epoch seconds: the same for all changes of a design; part of the ids of new tasks. */
  readonly now: number;
}

/** A refused change goes back to the model that made it. */
export type ChangeDesignResult =
  | { readonly type: 'changed'; readonly plan: PlanOutline }
  | { readonly type: 'refused'; readonly faults: readonly OutputFault[] };

export interface DescribeDesignInput {
  readonly plan_ref: Ref;
  readonly findings: readonly PlanFinding[];
  /** Use of the design so far, from which the use of the work is estimated. */
  readonly usage: Usage;
  /** Milliseconds of its calls together. */
  readonly worked_ms: number;
}

export interface FindResearchInput {
  readonly technologies: readonly string[];
  /** Unix epoch seconds. */
  readonly now: number;
  readonly max_age_days: number;
}

export interface KeepResearchInput {
  readonly technology: string;
  readonly ref: Ref;
  /** Unix epoch seconds. */
  readonly now: number;
}

export interface AdmitPlanInput {
  readonly plan_ref: Ref;
  readonly registry_ref: Ref;
  /** Most delegations of a wave. */
  readonly max_delegations: number;
}

/** An approved plan, ready to be carried out. */
export interface AdmitPlanResult {
  /** The registry with the plan's new agents. */
  readonly registry_ref: Ref;
  readonly agents: readonly AgentSummary[];
  /** Every evidence_id of the plan: the run is done when all of them are met. */
  readonly criterion_ids: readonly string[];
  /** Waves that carry out the whole plan, if every task is done at once. */
  readonly waves: number;
}

export interface PlanNextWaveInput {
  readonly plan_ref: Ref;
  readonly record_ref: Ref;
  readonly max_delegations: number;
  /** delegation_ids of all earlier waves. */
  readonly delegation_ids: readonly string[];
  readonly known_inputs: readonly string[];
}

export interface PlanNextWaveResult {
  /** The next wave of the approved plan; null when the planner has to plan it. */
  readonly plan: WavePlanOutline | null;
  /** Tasks of the approved plan that may work at the same time. */
  readonly max_parallel: number;
}

export interface FindWorkInput {
  readonly plan_ref: Ref;
  readonly record_ref: Ref;
  /** The wave that has ended. */
  readonly wave: number;
  /** delegation_ids that asked the same again and again. */
  readonly looping: readonly string[];
}

/** Work of a wave that has to be judged before the next. */
export interface FindWorkResult {
  /** Its proofs of concept. */
  readonly proofs: readonly WorkedTask[];
  /** Its tasks that asked the same again and again. */
  readonly looping: readonly WorkedTask[];
  /** task_ids of all that is verified. */
  readonly verified: readonly string[];
  /** Results of the design that a judgement reads. */
  readonly materials: readonly DesignMaterial[];
}

export interface RatePlanChangeInput {
  readonly before_ref: Ref;
  readonly after_ref: Ref;
}

export interface RatePlanChangeResult extends PlanChangeRating {
  /** The change in words, for the question whether it is approved. */
  readonly text: string;
}

/** Activities of designed mode. */
export interface DesignActivities {
  /** Makes one plan of the replies of a design. */
  readonly assembleDesign: (input: AssembleDesignInput) => Promise<AssembleDesignResult>;
  /** Reads the results of finished stages, in the order of the materials. */
  readonly recallStages: (
    input: RecallStagesInput,
  ) => Promise<{ readonly stages: readonly RecalledStage[] }>;
  /** Checks everything of a plan that code can check. */
  readonly checkDesign: (
    input: CheckDesignInput,
  ) => Promise<{ readonly findings: readonly PlanFinding[] }>;
  readonly changeDesign: (input: ChangeDesignInput) => Promise<ChangeDesignResult>;
  /** Describes a plan for the question whether it is approved. */
  readonly describeDesign: (input: DescribeDesignInput) => Promise<{ readonly text: string }>;
  /** Returns stored research that is still fresh. */
  readonly findResearch: (
    input: FindResearchInput,
  ) => Promise<{ readonly found: readonly DesignMaterial[] }>;
  /** Keeps research for later runs. */
  readonly keepResearch: (input: KeepResearchInput) => Promise<void>;
  /** Adds the new agents of an approved plan to the run. */
  readonly admitPlan: (input: AdmitPlanInput) => Promise<AdmitPlanResult>;
  readonly planNextWave: (input: PlanNextWaveInput) => Promise<PlanNextWaveResult>;
  /** Returns the work of a wave that has to be judged before the next. */
  readonly findWork: (input: FindWorkInput) => Promise<FindWorkResult>;
  readonly ratePlanChange: (input: RatePlanChangeInput) => Promise<RatePlanChangeResult>;
}
