import type { PlanChangeRating, WorkedTask } from './adaptation.ts';
import type { AgentSummary } from './agent-definition.ts';
import type { PlanFinding } from './coordination-plan.ts';
import type { DesignMaterial, DesignReplyOutline } from './design.ts';
import type { OutputFault } from './output-fault.ts';
import type { Architect } from './planner-wave.ts';
import type { AskedQuestion } from './question.ts';
import type { CompletionSession, SessionReport } from './note.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';
import type { PlanOutline, OpenConsultationResult } from './design-run.ts';
import type { WavePlanOutline } from './wave-plan.ts';

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
  /** Present for a change during the work: only what it has made is found. */
  readonly change?: PlanChangeMade;
}

/** Change of a plan during the work. */
export interface PlanChangeMade {
  readonly before_ref: Ref;
  /** task_ids of all that is verified. */
  readonly verified: readonly string[];
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
      /** Versions of the plan that it must not be afterwards. Absent where none is refused. */
      readonly unwanted?: readonly Ref[];
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
  readonly run_id: string;
  readonly plan_ref: Ref;
  /** The plan that the user saw last and wanted changed. Absent the first time. */
  readonly shown_ref?: Ref;
  /** Research that the plan rests on. Absent without any. */
  readonly research?: readonly DesignMaterial[];
  readonly findings: readonly PlanFinding[];
  /** The DesignReview of the last review, for its remarks. Absent without one. */
  readonly review_ref?: Ref;
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
  /** Agents of the run: where one of them may ask the web, background knowledge is none. If undefined, no one may. */
  readonly registry_ref?: Ref;
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
  /** Those of them that crashed and are wanted again. Absent when there are none. */
  readonly again?: readonly string[];
  readonly known_inputs: readonly string[];
}

export interface PlanNextWaveResult {
  /** The next wave of the approved plan; null when the planner has to plan it. */
  readonly plan: WavePlanOutline | null;
  /** Tasks of the approved plan that may work at the same time. */
  readonly max_parallel: number;
  /** Sessions that its tasks began in a wave that was lost, by delegation_id: each a CompletionSession. Absent without any. */
  readonly sessions?: Readonly<Record<string, Ref>>;
}

export interface OrderDecisionInput {
  readonly architect: Architect;
  readonly wave_plan_ref: Ref;
  /** Id of the new task. */
  readonly delegation_id: string;
  /** The delegation that asks. */
  readonly asker: string;
  readonly questions: readonly AskedQuestion[];
}

export interface ReadDecisionInput {
  readonly output_ref: Ref;
  readonly questions: readonly AskedQuestion[];
}

export interface FindWorkInput {
  readonly plan_ref: Ref;
  readonly record_ref: Ref;
  /** The wave that has ended. */
  readonly wave: number;
  /** delegation_ids that asked the same again and again. */
  readonly looping: readonly string[];
  /** Those that crashed and are wanted again: their proofs of concept have shown nothing yet. Absent when there are none. */
  readonly again?: readonly string[];
}

/** Work of a wave that has to be judged before the next. */
export interface FindWorkResult {
  /** Proofs of concept that were not judged since they ended, also of an earlier wave. */
  readonly proofs: readonly WorkedTask[];
  /** Its tasks that asked the same again and again. */
  readonly looping: readonly WorkedTask[];
  /** Its tasks with answers that contradict what others stated. */
  readonly contradicted: readonly WorkedTask[];
  /** task_ids of all that is verified. */
  readonly verified: readonly string[];
  /** Results of the design that a judgement reads. */
  readonly materials: readonly DesignMaterial[];
}

export interface RatePlanChangeInput {
  readonly before_ref: Ref;
  readonly after_ref: Ref;
  /** The task whose work changed the plan. */
  readonly task_id: string;
  /** The DesignChange that says what was changed and why. Absent without one. */
  readonly change_ref?: Ref;
  /** Facts for the question alone. */
  readonly question: Pick<DescribeDesignInput, 'run_id' | 'usage' | 'worked_ms'>;
}

export interface RatePlanChangeResult extends PlanChangeRating {
  /** The change in words, for the question whether it is approved. */
  readonly text: string;
  /** Its last lines, which stay however long the rest is. */
  readonly end: string;
}

export interface DesignActivities {
  /** Makes one plan of the replies of a design. */
  readonly assembleDesign: (input: AssembleDesignInput) => Promise<AssembleDesignResult>;
  /** Reads the recorded context of an agent of a design. */
  readonly openConsultation: (input: {
    readonly input: unknown;
  }) => Promise<OpenConsultationResult>;
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
  /** Reads the session of notes of a task that begins once more, and what the record knows of it. */
  readonly recallSession: (input: {
    readonly session_ref: Ref;
    readonly record_ref: Ref;
  }) => Promise<{ readonly session: CompletionSession } & Pick<SessionReport, 'refused'>>;
  readonly planNextWave: (input: PlanNextWaveInput) => Promise<PlanNextWaveResult>;
  /** Adds a task by which the solution architect decides questions to the plan of a wave. */
  readonly orderDecision: (input: OrderDecisionInput) => Promise<WavePlanOutline>;
  /** Reads the answers of a decision; null where it has none. */
  readonly readDecision: (
    input: ReadDecisionInput,
  ) => Promise<{ readonly answers: readonly (string | null)[] }>;
  /** Returns the work of a wave that has to be judged before the next. */
  readonly findWork: (input: FindWorkInput) => Promise<FindWorkResult>;
  readonly ratePlanChange: (input: RatePlanChangeInput) => Promise<RatePlanChangeResult>;
}
