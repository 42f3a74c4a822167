import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { CoordinationPlan, PlanTask, RosterAgent } from '../../contracts/coordination-plan.ts';
import type { DesignParts } from '../../core/design/assemble-plan.ts';

/** The agents of a worker that a sample plan names, and one that leads and one that plans. */
export const planAgents: readonly AgentSummary[] = [
  { agent_id: 'design-verifier', allowed_tools: [], risk_level: 'low' },
  { agent_id: 'engineer', allowed_tools: ['read_file', 'write_file'], risk_level: 'medium' },
  { agent_id: 'leader', allowed_tools: [], risk_level: 'low', only_leads: true },
  { agent_id: 'planner', allowed_tools: [], risk_level: 'low' },
  { agent_id: 'reviewer', allowed_tools: ['read_file'], risk_level: 'low' },
];

/** A solution architect for a roster. */
export const architectAgent: RosterAgent = {
  agent_name: 'architect_agent',
  role: 'solution_architect',
  responsibility: 'Decides technology and architecture.',
  agent_id: 'analyst',
};

/** A task of the sample plan's database agent that reads and waits for nothing. */
export function planTask(name: string, over: Partial<PlanTask> = {}): PlanTask {
  const { agent = 'database_agent' } = over;
  return {
    task_id: `${name}_1727539200`,
    title: `Do ${name}`,
    agent,
    instructions: `Do ${name} as the goal says.`,
    inputs: [],
    outputs: [{ path: `agents/${agent}/task_output/${name}.md`, format: 'Markdown' }],
    depends_on: [],
    validation: {
      verified_by: 'reviewer_agent',
      evidence: [{ evidence_id: `${name}-done`, description: `The file names all 3 ${name}s.` }],
    },
    proof_of_concept: null,
    ...over,
  };
}

/** A plan without a finding: a schema, an API on top of it, and a proof of concept before both. */
export function samplePlan(over: Partial<CoordinationPlan> = {}): CoordinationPlan {
  const schema = { path: 'agents/database_agent/task_output/schema.md', format: 'Markdown' };
  return {
    version: 1,
    task_name: 'user-management',
    goal: 'Users can sign up, sign in and be listed.',
    summary: 'A table of users and an API on it.',
    max_parallel: 2,
    agents: [
      {
        agent_name: 'database_agent',
        role: 'doer',
        responsibility: 'Designs the tables.',
        agent_id: 'engineer',
      },
      {
        agent_name: 'api_agent',
        role: 'doer',
        responsibility: 'Builds the API.',
        agent_id: 'engineer',
      },
      {
        agent_name: 'reviewer_agent',
        role: 'verifier',
        responsibility: 'Checks what others wrote.',
        agent_id: 'reviewer',
      },
    ],
    new_agents: [],
    tasks: [
      planTask('try-index', {
        proof_of_concept: {
          risk_id: 'slow-listing',
          success_criteria: ['1,000,000 users are listed in 200 ms.'],
          failure_criteria: ['A listing takes more than 1 s.'],
        },
      }),
      planTask('schema', { depends_on: ['try-index_1727539200'] }),
      planTask('api', {
        agent: 'api_agent',
        depends_on: ['schema_1727539200'],
        inputs: [{ ...schema, from: 'schema_1727539200' }],
      }),
      planTask('docs', { agent: 'api_agent' }),
    ],
    risks: [
      {
        risk_id: 'slow-listing',
        assumption: 'One index is enough to list the users.',
        likelihood: 'medium',
        impact: 'high',
        mitigation: 'Measure it before the schema is fixed.',
      },
    ],
    escalation: ['Ask the solution architect.', 'Ask the user.'],
    ...over,
  };
}

/** The sample plan with one task changed. Tasks: 0 try-index, 1 schema, 2 api, 3 docs. */
export function withTask(
  at: number,
  changesOf: (task: PlanTask) => Partial<PlanTask>,
  plan = samplePlan(),
): CoordinationPlan {
  const tasks = plan.tasks.map((task, i) => (i === at ? { ...task, ...changesOf(task) } : task));
  return { ...plan, tasks };
}

/** Replies of a design that become a plan of two tasks without a finding. */
export function designParts(over: Partial<DesignParts> = {}): DesignParts {
  const format = 'Markdown';
  const schema = { path: 'agents/database_agent/task_output/schema.md', format };
  return {
    goal: 'Users can sign up.',
    summary: {
      task_name: 'user-management',
      accomplish: 'Users can sign up.',
      decisions: [{ decision: 'PostgreSQL', rationale: 'It runs already.', alternatives: 'None.' }],
      constraints: ['No new server.'],
      questions_resolved: [{ question: 'Is e-mail unique?', answer: 'Yes.' }],
      open_items: [],
      integration_points: ['The present database.'],
      user_questions: [],
    },
    brief: {
      deliverables: ['A schema.', 'An API.'],
      hand_offs: ['The schema goes to the API.'],
      failure_modes: ['The migration fails.'],
      success_criteria: ['All 12 tests pass.'],
      technologies: ['PostgreSQL'],
      user_questions: [],
    },
    roster: { agents: samplePlan().agents, new_agents: [] },
    sequence: {
      tasks: [
        {
          task: 'schema',
          title: 'Schema',
          agent: 'database_agent',
          purpose: 'Design the tables.',
          depends_on: [],
        },
        {
          task: 'api',
          title: 'API',
          agent: 'api_agent',
          purpose: 'Build the API.',
          depends_on: ['schema'],
        },
      ],
      max_parallel: 2,
    },
    files: {
      tasks: [
        { task: 'schema', inputs: [], outputs: [schema] },
        {
          task: 'api',
          inputs: [{ ...schema, from: 'schema' }],
          outputs: [{ path: 'src/api.ts', format: 'TypeScript' }],
        },
      ],
    },
    checkpoints: {
      tasks: ['schema', 'api'].map((task) => ({
        task,
        verified_by: 'reviewer_agent',
        evidence: [{ evidence_id: 'tests', description: 'npm test ends with exit code 0.' }],
      })),
      escalation: ['Ask the user.'],
    },
    instructions: {
      tasks: ['schema', 'api'].map((task) => ({ task, instructions: `Write the ${task}.` })),
    },
    created_at: 1_727_539_200,
    ...over,
  };
}
