import { z } from 'zod';
import type { RecordedAdaptation } from './adaptation.ts';
import type { AgentSummary } from './agent-definition.ts';
import type { BudgetAccount, CarriedBudget } from './budget.ts';
import { CoordinationPlan } from './coordination-plan.ts';
import type { PlanFinding } from './coordination-plan.ts';
import type { DesignMaterial, DesignExplanation } from './design.ts';
import type { RunLimits, RunLoad } from './limits.ts';
import type { NewsItem } from './messages.ts';
import type { Ref } from './ref.ts';
import type { KnownSpent, Usage } from './usage.ts';
import { runSettings } from './limits.ts';

/** Settings of a design, in the input of every workflow that makes one. */
export const designSettings = {
  /** Approves a plan without findings in the user's place. Default false. */
  auto_approve: z.boolean().optional(),
  /** Days for which research on a technology is used again. 0: never. Default 30. */
  research_max_age_days: z.int().min(0).max(3_650).optional(),
};

/** Stages that can be made alone. The interview is of a goal, the others are of a plan that exists. */
const LoneStage = z.enum(['interview', 'verification', 'approval']);
export type LoneStage = z.infer<typeof LoneStage>;

/** Typed input that starts a design alone: `{"goal":"…"}` is enough. */
export const ArchitectureDesignInput = z
  .strictObject({
    goal: z
      .string()
      .trim()
      .min(1, 'expected a goal. Try: {"goal":"…"}')
      .max(100_000)
      .optional()
      .describe('Required, unless the stage is of a plan.'),
    constraints: z.array(z.string().trim().min(1).max(4_000)).max(50).optional(),
    /** Default: the whole design. */
    stage: LoneStage.optional(),
    /** Plan to verify or to approve: only with such a stage. */
    plan: CoordinationPlan.optional(),
    ...designSettings,
    ...runSettings,
  })
  .superRefine(({ goal, stage, plan }, context) => {
    const fault = (path: 'goal' | 'plan' | 'stage', message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (stage === 'verification' || stage === 'approval') {
      const what = `the stage "${stage}" is of a plan that exists`;
      const hint = `{"stage":"${stage}","plan":{…}}`;
      if (plan === undefined) fault('plan', `${what}, and there is none. Try: ${hint}`);
      if (goal !== undefined) {
        fault('goal', `${what}, and the plan has its goal. Try: leave goal out`);
      }
      return;
    }
    if (goal === undefined) fault('goal', 'expected a goal. Try: {"goal":"…"}');
    if (plan !== undefined) {
      fault(
        'plan',
        'a plan is made from the goal here. Try: leave plan out, or "stage":"verification" or "stage":"approval" without goal',
      );
    }
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
  readonly agents: readonly (Pick<
    CoordinationPlan['agents'][number],
    'agent_name' | 'agent_id' | 'role' | 'triad'
  > & {
    /** True for a solution architect without a task, who only answers questions. */
    readonly only_answers?: true;
  })[];
  readonly tasks: number;
  readonly proofs_of_concept: number;
}

/** Settings of a design, with every field set. */
export interface DesignRequest {
  readonly mode: 'direct' | 'designed' | 'auto';
  readonly auto_approve: boolean;
  readonly research_max_age_days: number;
  /** The plan in the input: approved already for a run, to be assessed for a risk assessment. Null without one. */
  readonly plan: PlanOutline | null;
  readonly technologies: readonly string[];
  /** Stage that is made alone. Absent: the whole design. */
  readonly stage?: LoneStage;
}

/** Agent of the current plan, with the tasks that it does. */
export interface PlanAgent {
  readonly agent_name: string;
  /** True for a solution architect, who has the tasks too by which questions are decided. */
  readonly decides?: true;
  readonly task_ids: readonly string[];
}

export interface RecordedDesign {
  /** `interviewed`, `assessed` and `verified`: the end of a stage that was started alone. */
  readonly status:
    | 'designing'
    | 'interviewed'
    | 'assessed'
    | 'verified'
    | 'approved'
    | 'abandoned'
    | 'stopped'
    | 'finished';
  /** Results of the finished stages, in the order in which they came. */
  readonly materials: readonly DesignMaterial[];
  /** Every version of the plan, oldest first; the last one is current. */
  readonly plan_refs: readonly Ref[];
  readonly plan_agents: readonly PlanAgent[];
  readonly findings: readonly PlanFinding[];
  /** The question whose answer approved the current plan. Null while it is not approved, and without a question. */
  readonly approved_by: string | null;
  readonly usage: Usage;
  /** Judgements of work and changes of the plan since its approval, oldest first. Absent before the first. */
  readonly adaptations?: readonly RecordedAdaptation[];
}

/** Progress of a design since its last report: payload of `designed`, from a design to its run. */
export interface DesignProgress extends Pick<RecordedDesign, 'status' | 'approved_by' | 'usage'> {
  /** Results of stages that have ended since. */
  readonly materials: readonly DesignMaterial[];
  /** Versions of the plan since. */
  readonly plan_refs: readonly Ref[];
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
  /** Defined in WaveOrder. */
  readonly spent?: KnownSpent;
  readonly amendments: readonly string[];
  /** Decisions since `record_ref` was written. */
  readonly news: readonly NewsItem[];
  readonly auto_approve: boolean;
  readonly research_max_age_days: number;
  /** Unix epoch seconds; part of each task_id. The same for a design that goes on with the work of another. */
  readonly designed_at: number;
  /** Plan of a first wave that called for the design. Absent where the input asked for it. */
  readonly first_plan_ref?: Ref;
  /** Absent for the first design of a run. */
  readonly finished?: FinishedStages;
}

/** A design started by a run gets its order; one started by hand gets an ArchitectureDesignInput. */
export type ArchitectureDesignArgs = { readonly order: DesignOrder } | ArchitectureDesignInput;

export interface DesignResult {
  /** `finished`: the run's budget is spent, and the user told it to finish. */
  readonly status: Extract<
    RecordedDesign['status'],
    'approved' | 'abandoned' | 'stopped' | 'finished'
  >;
  /** The current plan; null when the design ended before it was assembled. */
  readonly plan: PlanOutline | null;
  readonly findings: readonly PlanFinding[];
  /** Defined in RecordedDesign. */
  readonly approved_by: string | null;
  readonly usage: Usage;
  /** Budget for the rest of the run. */
  readonly budget: CarriedBudget | null;
}

/** Result of a stage that was started alone. */
export interface LoneStageResult extends Omit<DesignResult, 'status'> {
  /** `verified`: the verification has ended; `findings` are those that are left. */
  readonly status: DesignResult['status'] | 'interviewed' | 'verified';
}

/** Agents of a design that the user can question. */
export const consultedRoles = ['designer', 'verifier', 'risk'] as const;
export type ConsultedRole = (typeof consultedRoles)[number];

/** Most characters of a question, with what was said before it. */
export const questionCharsMax = 12_000;

/** Typed input of a consultation: `{"run_id":"my-run","role":"designer","question":"Why two databases?"}`. */
export const ConsultationInput = z.strictObject({
  run_id: z.string().min(1).max(200),
  role: z.enum(consultedRoles),
  question: z.string().trim().min(1).max(questionCharsMax),
  /** Store of the run, as the server knows it: workers with another one refuse the work. If undefined, every store will do. */
  store: z.object({ id: z.string(), place: z.string() }).optional(),
});
export type ConsultationInput = z.infer<typeof ConsultationInput>;

/** Recorded context from which the agent answers. */
export interface ConsultedContext {
  readonly input: ConsultationInput;
  readonly agent_id: string;
  readonly record_ref: Ref;
  readonly registry_ref: Ref;
  readonly materials: readonly DesignMaterial[];
  /** Null before the plan is assembled. */
  readonly plan_ref: Ref | null;
}

export type OpenConsultationResult =
  | {
      readonly type: 'open';
      readonly context: ConsultedContext;
      /** Queue of its model calls. Absent: that of the consultation. */
      readonly load?: RunLoad;
    }
  | {
      readonly type: 'refused';
      readonly reason: string;
      /** True when the store has no such run. */
      readonly is_unknown?: true;
    };

export interface ConsultationResult extends DesignExplanation {
  readonly agent_id: string;
  /** Use of the answer. It is not part of the run's. */
  readonly usage: Usage;
}
