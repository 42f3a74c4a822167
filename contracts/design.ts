import { z } from 'zod';
import {
  EvidenceRequirement,
  NewAgent,
  PlanOperation,
  PlanRisk,
  ProofOfConcept,
  RosterAgent,
  TaskFile,
  TaskId,
} from './coordination-plan.ts';
import { RiskLevel, Slug } from './agent-definition.ts';
import type { PlanFinding } from './coordination-plan.ts';
import type { AskedLoop, LoopCause, ProofDecision, ProofReview, WorkedTask } from './adaptation.ts';
import type { DesignStageName } from './names.ts';
import { AskedQuestion } from './question.ts';
import type { Ref } from './ref.ts';

export type { DesignStageName } from './names.ts';

const text = z.string().min(1).max(2_000);
const texts = z.array(text).max(30);
/** Short name of a task before the engine gives it its `task_id`. */
const TaskSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,27}$/,
    'expected 1 to 28 lower-case letters, digits, "-" or "_". Try: "create_user_table"',
  );
/** Evidence as a model states it: checks by code are for people's plan files. */
const StatedEvidence = EvidenceRequirement.omit({ check: true });
const user_questions = z
  .array(AskedQuestion)
  .max(10)
  .describe('Only what would change the design. Empty when nothing of that kind is open.');

/** Result of the interview (seed 003, "Conversation Summary Format"). */
export const ConversationSummary = z.strictObject({
  task_name: Slug.describe('Short name of the task, used in file names.'),
  accomplish: z.string().min(1).max(8_000).describe('The goal in plain language.'),
  decisions: z
    .array(z.strictObject({ decision: text, rationale: text, alternatives: text }))
    .max(30)
    .describe('alternatives: what was rejected, and why.'),
  constraints: texts.describe('Constraints and assumptions.'),
  questions_resolved: z.array(z.strictObject({ question: text, answer: text })).max(50),
  open_items: texts,
  integration_points: texts.describe('Dependencies, and what this connects to.'),
  user_questions,
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;

export const DesignBrief = z.strictObject({
  deliverables: texts.min(1),
  hand_offs: texts.describe('What passes from one agent to another, and how it is validated.'),
  failure_modes: texts,
  success_criteria: texts.min(1).describe('Measurable.'),
  technologies: z.array(z.string().min(1).max(80)).max(8).describe('Whose risks need research.'),
  user_questions,
});
export type DesignBrief = z.infer<typeof DesignBrief>;

export const DesignRoster = z.strictObject({
  agents: z.array(RosterAgent).min(1).max(30),
  new_agents: z.array(NewAgent).max(10),
});
export type DesignRoster = z.infer<typeof DesignRoster>;

export const DesignSequence = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task: TaskSlug,
        title: z.string().min(1).max(120),
        agent: Slug.describe('agent_name of the roster.'),
        purpose: text,
        depends_on: z.array(TaskSlug).max(50),
      }),
    )
    .min(1)
    .max(60),
  max_parallel: z.int().min(1).max(20),
});
export type DesignSequence = z.infer<typeof DesignSequence>;

export const DesignFiles = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task: TaskSlug,
        inputs: z
          .array(TaskFile.extend({ from: TaskSlug.nullable() }))
          .max(20)
          .describe('from: the task that writes it; null for a file that exists already.'),
        outputs: z.array(TaskFile).max(20),
      }),
    )
    .max(60),
});
export type DesignFiles = z.infer<typeof DesignFiles>;

export const DesignCheckpoints = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task: TaskSlug,
        verified_by: Slug.describe('agent_name of a verifier. Never the agent of the task.'),
        evidence: z.array(StatedEvidence).min(1).max(20),
      }),
    )
    .max(60),
  escalation: texts.min(1).describe('What happens when a task is blocked, in order.'),
});
export type DesignCheckpoints = z.infer<typeof DesignCheckpoints>;

/** The engine adds the rules of the agent's role to each text (`core/design/templates`). */
export const DesignInstructions = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task: TaskSlug,
        instructions: z
          .string()
          .min(1)
          .max(8_000)
          .describe(
            'Objective, context, steps, what is out of scope. Its reader sees nothing else.',
          ),
      }),
    )
    .max(60),
});
export type DesignInstructions = z.infer<typeof DesignInstructions>;

/** Changes of the plan, and their reason for people. */
export const DesignChange = z.strictObject({
  explanation: text.describe('What was changed and why; for a finding that stays: why it stays.'),
  operations: z.array(PlanOperation).max(60),
});
export type DesignChange = z.infer<typeof DesignChange>;

/** Source of research. Code adds quotation and time of a page that was opened. */
const ResearchSource = z.strictObject({
  title: text,
  url: z.string().max(500).nullable().describe('Null: background knowledge, not looked up.'),
  quotation: z.string().max(300).optional(),
  /** ISO 8601. */
  retrieved_at: z.string().max(40).optional(),
});

export const TechnologyResearch = z.strictObject({
  technology: z.string().min(1).max(80),
  practices: texts.min(1),
  failure_patterns: texts,
  sources: z.array(ResearchSource).max(20),
});

/** Research as a model states it. */
export const StatedResearch = TechnologyResearch.extend({
  sources: z.array(ResearchSource.pick({ title: true, url: true })).max(20),
});
export type TechnologyResearch = z.infer<typeof TechnologyResearch>;

export const DoerConsultation = z.strictObject({
  risks: z
    .array(
      z.strictObject({
        assumption: text,
        likelihood: RiskLevel,
        impact: RiskLevel,
        reason: text,
        task_ids: z.array(TaskId).max(20).describe('Tasks that rely on it.'),
      }),
    )
    .max(10),
});
export type DoerConsultation = z.infer<typeof DoerConsultation>;

export const PocRecommendation = z.strictObject({
  risks: z.array(PlanRisk).max(30),
  proofs_of_concept: z
    .array(
      ProofOfConcept.extend({
        task: TaskSlug,
        title: z.string().min(1).max(120),
        agent: Slug,
        verified_by: Slug,
        instructions: z.string().min(1).max(8_000),
        outputs: z.array(TaskFile).min(1).max(10),
        evidence: z.array(StatedEvidence).min(1).max(10),
        dependents: z.array(TaskId).min(1).max(50).describe('Tasks that rely on the assumption.'),
      }),
    )
    .max(10),
});
export type PocRecommendation = z.infer<typeof PocRecommendation>;

/** Positions of the recommended proofs of concept. */
export const PocIntegration = z.strictObject({
  positions: z
    .array(
      z.strictObject({
        task: TaskSlug.describe('Of the recommendation.'),
        depends_on: z.array(TaskId).max(20),
        before: z.array(TaskId).min(1).max(50).describe('Tasks that wait for it.'),
      }),
    )
    .max(10),
});
export type PocIntegration = z.infer<typeof PocIntegration>;

export const BestPractices = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task_id: TaskId,
        practices: texts.min(1).describe('What to do, one sentence each.'),
      }),
    )
    .max(60),
});
export type BestPractices = z.infer<typeof BestPractices>;

export const DesignReview = z.strictObject({
  findings: z
    .array(
      z.strictObject({
        path: z.string().max(200).describe('Place in the plan. Try: "tasks/2/instructions"'),
        message: text,
        cure: text,
      }),
    )
    .max(30)
    .describe('Only what must change before the plan may run.'),
  remarks: texts,
});
export type DesignReview = z.infer<typeof DesignReview>;

/** Answer of an agent of the design to a question of the user. */
export const DesignExplanation = z.strictObject({
  answer: z.string().min(1).max(8_000),
  amendment: text
    .nullable()
    .describe('Instruction that the user could send to the run, in their name. Null for none.'),
});
export type DesignExplanation = z.infer<typeof DesignExplanation>;

/** Result of an earlier stage, for the prompt of a later one. */
export interface DesignMaterial {
  readonly stage: DesignStageName;
  /** Technology or agent_name of a stage that is asked for several times; otherwise null. */
  readonly subject: string | null;
  readonly ref: Ref;
}

/** First prompt of a design stage, by reference. */
export interface DesignPrompt {
  readonly kind: 'design';
  readonly stage: DesignStageName;
  readonly record_ref: Ref;
  readonly materials: readonly DesignMaterial[];
  /** The CoordinationPlan as JSON; null before it is assembled. */
  readonly plan_ref: Ref | null;
  /** Technology or agent_name that the stage is about; otherwise null. */
  readonly subject: string | null;
  /** Findings that the designer has to answer. */
  readonly findings: readonly PlanFinding[];
  /** Plan of a first wave that called for the design: a proposal. Absent without one, and once the design has a plan. */
  readonly first_plan_ref?: Ref;
  /** Changes that the user asked for. Null without any. `change_made`: absent where the plan does not have them yet. */
  readonly requested_change: string | null;
  readonly change_made?: true;
  /** Tasks whose work is judged. Absent during the design. */
  readonly worked?: readonly WorkedTask[];
  /** The question that came again and again. Absent where there is none. */
  readonly loop?: AskedLoop;
  readonly amendments: readonly string[];
}

/** Part of a design stage's reply that the workflow needs. The whole is behind `ref`. */
export interface DesignReplyOutline {
  readonly stage: DesignStageName;
  readonly ref: Ref;
  /** Empty for stages that ask nothing. */
  readonly user_questions: readonly AskedQuestion[];
  /** Technologies of a brief; otherwise empty. */
  readonly technologies: readonly string[];
  /** Number of proofs of concept of a recommendation; otherwise 0. */
  readonly proofs_of_concept: number;
  /** Findings of a review; otherwise empty. */
  readonly findings: readonly PlanFinding[];
  /** Absent for every stage but `explanation`. */
  readonly explanation?: DesignExplanation;
  /** Results of the stages of the work. Absent for the others. */
  readonly assessment?: ProofReview['assessment'];
  /** Keys of the criteria that were judged (`core/design/check-judged`). */
  readonly judged?: readonly string[];
  readonly decision?: ProofDecision['decision'];
  readonly root_cause?: LoopCause;
}
