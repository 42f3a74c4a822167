/** Names on the wire. Scripts, saved histories and people rely on them: never change one, add another. */
export const taskQueue = 'planwave';

export const workflowTypes = {
  plannerRun: 'plannerRun',
  plannerWave: 'plannerWave',
  delegation: 'delegation',
  triad: 'triad',
  triadPhase: 'triadPhase',
  team: 'team',
  architectureDesign: 'architectureDesign',
  riskAssessment: 'riskAssessment',
  consultation: 'consultation',
  evaluation: 'evaluation',
  archival: 'archival',
  notification: 'notification',
} as const;

/** Kinds of model reply of a design, in the order in which a design and the work on it ask for them. */
export const designStageNames = [
  /** The plan development agent: requirements, in batches of questions. */
  'interview',
  /** The workflow designer: gaps, hand-offs, failure modes, technologies. */
  'brief',
  'roster',
  'sequencing',
  'file_structure',
  'checkpoints',
  'instructions',
  /** The workflow designer again: brings the parts together, or answers findings and the user's changes. */
  'design_change',
  /** Practices and failure patterns of one technology. */
  'research',
  /** Risks that one doer of the roster sees in its own tasks. */
  'consultation',
  'poc_recommendation',
  'poc_integration',
  'best_practices',
  /** The design verifier. */
  'design_review',
  /** During the work: judges the evidence of one proof of concept. */
  'poc_evidence',
  /** Decides what follows from it. */
  'poc_decision',
  /** Finds out why a task asks the same again and again. */
  'loop_analysis',
  /** Changes the plan during the work. */
  'adaptation',
  /** An agent of the design answers the user; changes nothing, and no design asks for it. */
  'explanation',
] as const;
export type DesignStageName = (typeof designStageNames)[number];

/** The kinds of model reply that the engine asks for; `activities/stages` has one entry for each. */
export const stageNames = [
  'plan',
  'delegation',
  'leader',
  'member',
  /** The turn of a member that owes the output of the delegation. */
  'member_output',
  'code',
  'decision',
  'question_review',
  /** Nested call of `web_research`. */
  'web_research',
  /** Judgement of a delegation's output by an agent that is not its author. */
  'verification',
  /** Judgement of an answer by a rubric, in an evaluation. */
  'grading',
  ...designStageNames,
] as const;
export type StageName = (typeof stageNames)[number];

export const triadTypes = ['hierarchical', 'dialectic', 'consensus'] as const;

/** The phases of a triad in order, used as the last part of their workflow ids. */
export const triadPhases = ['deliberate', 'negotiate', 'execute'] as const;

/** Internal id of a team that was typed without a name. People see it as unnamed. */
export const thisTeamId = 'this-team';

export const signalNames = {
  answer: 'answer',
  escalate: 'escalate',
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
  amend: 'amend',
  /** Sent by a parent to the child that asked: an answer, ready to use. */
  deliver: 'deliver',
  /** Sent by a parent to a working child: new decisions of the user and the planner. */
  inform: 'inform',
  /** Sent by a wave to a delegation: the amounts that it may spend. */
  grant: 'grant',
  /** Sent by a wave to its run: the plan. */
  progress: 'progress',
  /** Sent by a design to its run: a finished stage, or a new version of the plan. */
  designed: 'designed',
} as const;

export const updateNames = { submitAnswer: 'submitAnswer' } as const;

export const queryNames = {
  status: 'status',
  questions: 'questions',
  plan: 'plan',
  pool: 'pool',
  budget: 'budget',
  wave: 'wave',
} as const;

/** Enums and counters only: search attributes are never encrypted. The values are the types to register. */
export const searchAttributes = {
  PlanwavePhase: 'Keyword',
  PlanwaveWave: 'Int',
  PlanwaveOpenQuestions: 'Int',
  PlanwaveOldestQuestion: 'Datetime',
  PlanwaveCostUsd: 'Double',
  PlanwaveRun: 'Keyword',
} as const;

/** Memo fields, readable while every worker is off. */
export const memoKeys = {
  goal: 'goal',
  waitingFor: 'waiting_for',
  phase: 'phase',
  store: 'store',
  load: 'load',
} as const;

/** Header of each activity, child and continuation of a run, with the store that has its artifacts and ledgers. */
export const storeHeader = 'planwave-store';

/** Header of each child and continuation of a run, with its `RunLoad`. */
export const loadHeader = 'planwave-load';

/** Names that answers are signed with when no person gave them. */
export const answererNames = {
  /** The default was taken: at once, or at the deadline. */
  default: 'default',
  /** No person was asked: the run was started with autonomy "assume". */
  assumption: 'assumption',
  /** The planner answered an agent from what the run knows. */
  planner: 'planner',
  /** The planner found no source for an answer, and let the agent assume. */
  plannerAssumption: 'planner-assumption',
  /** The solution architect of a designed plan decided it, and a verifier has seen the decision. */
  architect: 'solution-architect',
  /** No person was asked: the question was repeated too often, or there is no room. */
  engine: 'planwave',
} as const;

/** Names whose answers are assumptions, because no one with knowledge confirmed them. */
export const assumingAnswerers: readonly string[] = [
  answererNames.default,
  answererNames.assumption,
  answererNames.plannerAssumption,
];

/** Signs the answers that a chat client's model sends. It is no person, so it approves nothing. */
export const chatAnswerer = 'mcp';

/** The agent that plans and decides. It never executes a delegation. */
export const plannerAgentId = 'planner';

/** The shipped agent that leads a team which names no other. */
export const leaderAgentId = 'leader';

/** The shipped agents of a design. A consultation goes to an agent of the roster instead. */
export const designAgentIds = {
  interview: 'plan-developer',
  brief: 'workflow-designer',
  roster: 'roster-designer',
  sequencing: 'sequencing-designer',
  file_structure: 'file-designer',
  checkpoints: 'checkpoint-designer',
  instructions: 'instruction-writer',
  design_change: 'workflow-designer',
  research: 'technology-researcher',
  poc_recommendation: 'poc-designer',
  poc_integration: 'poc-designer',
  best_practices: 'practice-integrator',
  design_review: 'design-verifier',
  poc_evidence: 'evidence-reviewer',
  poc_decision: 'poc-designer',
  loop_analysis: 'loop-analyst',
  adaptation: 'workflow-adapter',
} as const satisfies Readonly<
  Record<Exclude<DesignStageName, 'consultation' | 'explanation'>, string>
>;

/** The shipped agent that judges answers in an evaluation. */
export const graderAgentId = 'grader';

/** The folder of the home into which a program's agents in code are written, with a folder for each set of them. */
export const definedAgentsFolder = 'temporal/agents';

/** Agents that get no delegation, besides the planner. */
export const internalAgentIds: readonly string[] = [
  ...Object.values(designAgentIds),
  graderAgentId,
];
