import { z } from 'zod';
import { RiskLevel, Slug } from './agent-definition.ts';
import { EvidenceCheck, VerifierTriad } from './verification.ts';

/** Identifier of a task: `{slug}_{unix epoch seconds}`, unique in its plan (seed 003, "Field Specifications"). */
export const TaskId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,27}_[0-9]{10}$/,
    'expected {slug}_{unix epoch seconds}. Try: "create_user_table_1727539200"',
  );

/** Path below the folder of the plan's agents: relative, with `/`, without `..`. */
export const PlanPath = z
  .string()
  .min(1)
  .max(200)
  .describe('Relative path. Try: "agents/database_agent/task_output/schema.sql"');

const text = z.string().min(1).max(2_000);
const texts = z.array(text).max(20);

export const TaskFile = z.strictObject({
  path: PlanPath,
  format: z
    .string()
    .min(1)
    .max(200)
    .describe('What a reader can rely on. Try: "SQL, PostgreSQL 16"'),
});
export type TaskFile = z.infer<typeof TaskFile>;

/** File that a task reads. `from` is the task that writes it; null for a file that exists before the plan starts. */
export const TaskInput = TaskFile.extend({ from: TaskId.nullable() });
export type TaskInput = z.infer<typeof TaskInput>;

/** Statement that someone else than the author can check. */
export const EvidenceRequirement = z.strictObject({
  evidence_id: Slug.describe('Unique in the plan.'),
  description: text.describe('Measurable: what must be seen for the task to count as done.'),
  check: EvidenceCheck.optional().describe(
    'Check that code makes before the verifier judges. Left out where only an agent can judge.',
  ),
});
export type EvidenceRequirement = z.infer<typeof EvidenceRequirement>;

/** Proof of concept: a small task that tests a risky assumption before others build on it. */
export const ProofOfConcept = z.strictObject({
  risk_id: Slug,
  success_criteria: z.array(text).min(1).max(10),
  failure_criteria: z.array(text).min(1).max(10),
});
export type ProofOfConcept = z.infer<typeof ProofOfConcept>;

/** Validation at a hand-off: the task is not verified before its verifier has seen all evidence. */
export const Validation = z.strictObject({
  verified_by: Slug.describe('agent_name of the verifier. Never the agent of the task.'),
  evidence: z
    .array(EvidenceRequirement)
    .max(20)
    .describe('At least one; a plan without is found by its checks.'),
});
export type Validation = z.infer<typeof Validation>;

export const PlanTask = z.strictObject({
  task_id: TaskId,
  title: z.string().min(1).max(120),
  agent: Slug.describe('agent_name of the roster.'),
  instructions: z
    .string()
    .min(1)
    .max(20_000)
    .describe(
      'The work itself. The engine adds inputs, outputs, evidence and the rules of the role.',
    ),
  inputs: z.array(TaskInput).max(20),
  outputs: z.array(TaskFile).max(20),
  depends_on: z.array(TaskId).max(50).describe('Tasks that must be verified first.'),
  validation: Validation,
  /** Null for ordinary work. */
  proof_of_concept: ProofOfConcept.nullable(),
});
export type PlanTask = z.infer<typeof PlanTask>;

export const RosterRole = z.enum(['doer', 'verifier', 'solution_architect']);
export type RosterRole = z.infer<typeof RosterRole>;

/** Agent of a plan. Its name is its folder below `agents/`; several may be of one registered agent. */
export const RosterAgent = z.strictObject({
  agent_name: Slug.describe('Unique in the plan. Try: "database_agent"'),
  role: RosterRole,
  responsibility: text,
  agent_id: Slug.describe('The registered agent that works under this name.'),
});
export type RosterAgent = z.infer<typeof RosterAgent>;

/** Agent of a finished plan. People may let a verifier judge as a triad; the designers name single agents. */
const PlannedAgent = RosterAgent.extend({
  triad: VerifierTriad.optional().describe(
    'Only for a verifier: three members who judge together. agent_id is the member that writes, and gives the verdict.',
  ),
});

/** Agent that a plan needs and that no file describes yet: the draft of its file. */
export const NewAgent = z.strictObject({
  agent_id: Slug,
  description: z.string().min(1).max(1_000).describe('When to use this agent.'),
  capabilities: z.array(z.string().min(1).max(120)).max(20),
  tools: z.array(z.string().min(1).max(64)).max(20),
  risk_level: RiskLevel,
  prompt: z.string().min(1).max(10_000).describe('The role, as the model reads it.'),
});
export type NewAgent = z.infer<typeof NewAgent>;

export const PlanRisk = z.strictObject({
  risk_id: Slug,
  assumption: text.describe('The statement that the plan relies on.'),
  likelihood: RiskLevel.describe('How likely it is that the assumption is wrong.'),
  impact: RiskLevel.describe('How much is lost if it is.'),
  mitigation: text,
});
export type PlanRisk = z.infer<typeof PlanRisk>;

/**
 * Plan of a designed run (seed 003, "Output: Workflow Design"): the one contract that design, checks, files for people
 * and execution share. Order and parallelism follow from `depends_on` alone.
 */
export const CoordinationPlan = z.strictObject({
  version: z.literal(1),
  task_name: Slug.describe('Short name of the whole task, used in file names.'),
  goal: z.string().min(1).max(100_000),
  summary: text,
  max_parallel: z.int().min(1).max(20).describe('Tasks that may work at the same time.'),
  agents: z.array(PlannedAgent).min(1).max(30),
  new_agents: z.array(NewAgent).max(10),
  tasks: z.array(PlanTask).min(1).max(60),
  risks: z.array(PlanRisk).max(30),
  /** Procedures when a task is blocked, in the order in which they apply. */
  escalation: texts.min(1),
});
export type CoordinationPlan = z.infer<typeof CoordinationPlan>;

/** Task of the plan that changes: that it exists says more than its form, and a schema has room for few patterns. */
const KnownTask = z.string().max(40);

/**
 * Change of a plan. After its assembly a plan changes by operations only, whoever wants the change: the designer, the
 * risk assessment, a verifier's finding, the user, or an adaptation during execution.
 */
export const PlanOperation = z.discriminatedUnion('operation', [
  z.strictObject({ operation: z.literal('add_task'), task: PlanTask }),
  z.strictObject({ operation: z.literal('remove_task'), task_id: KnownTask }),
  z.strictObject({
    operation: z.literal('split_task'),
    task_id: KnownTask,
    into: z
      .array(PlanTask)
      .min(2)
      .max(10)
      .describe('The last one takes the place of the task for all that depend on it.'),
  }),
  z.strictObject({
    operation: z.literal('reorder'),
    task_id: KnownTask,
    depends_on: z.array(KnownTask).max(50),
  }),
  z.strictObject({ operation: z.literal('reassign'), task_id: KnownTask, agent: Slug }),
  z.strictObject({
    operation: z.literal('change_instructions'),
    task_id: KnownTask,
    instructions: z.string().min(1).max(20_000),
  }),
  z.strictObject({
    operation: z.literal('append_instructions'),
    task_id: KnownTask,
    heading: z.string().min(1).max(120),
    text,
  }),
  z.strictObject({
    operation: z.literal('change_files'),
    task_id: KnownTask,
    inputs: z.array(TaskInput).max(20),
    outputs: z.array(TaskFile).max(20),
  }),
  z.strictObject({
    operation: z.literal('change_validation'),
    task_id: KnownTask,
    validation: Validation,
  }),
  z.strictObject({
    operation: z.literal('insert_proof_of_concept'),
    task: PlanTask,
    before: z.array(TaskId).min(1).max(50).describe('Tasks that then depend on it.'),
  }),
  z.strictObject({ operation: z.literal('add_agent'), agent: RosterAgent }),
  z
    .strictObject({ operation: z.literal('change_agent'), agent: RosterAgent })
    .describe('The agent takes the place of the one with its agent_name.'),
  z.strictObject({ operation: z.literal('remove_agent'), agent_name: Slug }),
  z.strictObject({
    operation: z.literal('draft_agent'),
    draft: NewAgent.describe('Takes the place of a draft with this agent_id.'),
  }),
  z.strictObject({ operation: z.literal('remove_draft'), agent_id: Slug }),
  z.strictObject({ operation: z.literal('add_risk'), risk: PlanRisk }),
  z.strictObject({ operation: z.literal('change_summary'), summary: text }),
  z.strictObject({ operation: z.literal('change_escalation'), escalation: texts.min(1) }),
]);
export type PlanOperation = z.infer<typeof PlanOperation>;

/** Result of a check of a plan. Each names its place and its cure. */
export interface PlanFinding {
  /** Number of the rule that found it (`core/design/check-plan-file`), `operation`, `schema` or `verifier`. */
  readonly rule: string;
  /** Place in the plan as a path: `tasks/2/inputs/0`. Empty for the whole plan. */
  readonly path: string;
  readonly message: string;
  /** Change that removes the finding. */
  readonly cure: string;
}
