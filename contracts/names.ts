/** Names on the wire. Scripts, saved histories and people rely on them: never change one, add another. */
export const taskQueue = 'planwave';

export const workflowTypes = {
  plannerRun: 'plannerRun',
  plannerWave: 'plannerWave',
  delegation: 'delegation',
  triad: 'triad',
  triadPhase: 'triadPhase',
  team: 'team',
} as const;

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
] as const;
export type StageName = (typeof stageNames)[number];

/** The phases of a triad, in their order: the names of their workflows' last part. */
export const triadPhases = ['deliberate', 'negotiate', 'execute'] as const;

/** The name that a team has below which is typed without one. It is shown as having none. */
export const thisTeamId = 'this-team';

export const signalNames = {
  answer: 'answer',
  escalate: 'escalate',
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
  amend: 'amend',
  /** From a parent to the child that asked: an answer, ready to use. */
  deliver: 'deliver',
  /** From a parent to a child at work: what the user and the planner have decided meanwhile. */
  inform: 'inform',
  /** From a wave to a delegation: what it may spend. */
  grant: 'grant',
  /** From a wave to its run: what was planned. */
  progress: 'progress',
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

/**
 * How long one workflow task may take before another worker gets it, in milliseconds. Temporal's own default of 10 s is
 * what a run loses when its worker is killed in the middle of one; a task of planwave takes milliseconds, a replay of the
 * longest history under 2 s.
 */
export const workflowTaskTimeoutMs = 5_000;

/** Enums and counters only: search attributes are never encrypted. The values are the types to register. */
export const searchAttributes = {
  PlanwavePhase: 'Keyword',
  PlanwaveWave: 'Int',
  PlanwaveOpenQuestions: 'Int',
  PlanwaveOldestQuestion: 'Datetime',
  PlanwaveCostUsd: 'Double',
  PlanwaveRun: 'Keyword',
} as const;

/** Readable with every worker off. */
export const memoKeys = { goal: 'goal', waitingFor: 'waiting_for', phase: 'phase' } as const;

/** Who has answered, when it was no person. */
export const answererNames = {
  /** The default was taken: at once, or at the deadline. */
  default: 'default',
  /** Nobody was asked: the run was started with autonomy "assume". */
  assumption: 'assumption',
  /** The planner answered an agent from what the run knows. */
  planner: 'planner',
  /** The planner found nothing that settles it, and let the agent assume. */
  plannerAssumption: 'planner-assumption',
  /** Nobody was asked: it came too often, or there is no room. */
  engine: 'planwave',
} as const;

/** Those behind whose answers nobody stands who knows: they are assumptions. */
export const assumingAnswerers: readonly string[] = [
  answererNames.default,
  answererNames.assumption,
  answererNames.plannerAssumption,
];

/** The agent that plans and decides. Never a delegation's executor. */
export const plannerAgentId = 'planner';

/** The shipped agent that leads a team which names no other. */
export const leaderAgentId = 'leader';
