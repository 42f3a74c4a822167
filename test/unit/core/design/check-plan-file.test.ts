import { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import type { NewAgent } from '../../../../contracts/coordination-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, samplePlan, withTask } from '../../../support/plans.ts';

const check = (plan: CoordinationPlan): [string, string][] =>
  checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule, path }) => [rule, path]);

function withEvidence(at: number, description: string, id = 'seen'): CoordinationPlan {
  return withTask(at, ({ validation }) => ({
    validation: { ...validation, evidence: [{ evidence_id: id, description }] },
  }));
}

const agents = samplePlan().agents;
const draft: NewAgent = {
  agent_id: 'tester',
  description: 'For tests.',
  capabilities: [],
  tools: [],
  risk_level: 'low',
  prompt: 'Test.',
};
const idle = {
  agent_name: 'idle_agent',
  role: 'doer',
  responsibility: 'None.',
  agent_id: 'engineer',
} as const;
const [risk] = samplePlan().risks;
/** The sample plan, whose verifier is a triad of these agents. */
function withJury(
  [pro, con, syn]: readonly [string, string, string],
  over: Partial<CoordinationPlan['agents'][number]> = {},
): CoordinationPlan {
  const triad = {
    type: 'dialectic',
    reason: 'Three see more.',
    members: [
      { name: 'pro', role: 'proposer', agent_id: pro },
      { name: 'con', role: 'critic', agent_id: con },
      { name: 'syn', role: 'synthesizer', agent_id: syn },
    ],
  } as const;
  return samplePlan({
    agents: agents.map((one) =>
      one.role === 'verifier'
        ? { ...one, triad: { ...triad, members: [...triad.members] }, ...over }
        : one,
    ),
  });
}

/** Each fault with the one rule and the one place that report it. */
const faults: readonly [string, string, string, CoordinationPlan][] = [
  [
    'DP1: a task_id without a time',
    'DP1',
    'tasks/3/task_id',
    withTask(3, () => ({ task_id: 'docs' })),
  ],
  [
    'DP1: a task_id twice',
    'DP1',
    'tasks/3/task_id',
    withTask(3, () => ({ task_id: 'api_1727539200' })),
  ],
  [
    'DP1: the name of a decision',
    'DP1',
    'tasks/3/task_id',
    withTask(3, () => ({ task_id: 'decision_w1n1_1727539200' })),
  ],
  ...['api-2', 'api-1000'].map((slug): [string, string, string, CoordinationPlan] => [
    `DP1: ${slug}, the name of another attempt at a task`,
    'DP1',
    'tasks/3/task_id',
    withTask(3, () => ({ task_id: `${slug}_1727539200` })),
  ]),
  [
    'DP1: two long names whose later attempts would have one name',
    'DP1',
    'tasks/3/task_id',
    withTask(
      3,
      () => ({ task_id: 'a-very-long-name-of-28-chart_1727539200' }),
      withTask(2, () => ({ task_id: 'a-very-long-name-of-28-chars_1727539200' })),
    ),
  ],
  [
    'DP2: an agent_name twice',
    'DP2',
    'agents/3/agent_name',
    samplePlan({ agents: [...agents, { ...idle, agent_name: 'api_agent' }] }),
  ],
  ...['ghost', 'planner', 'leader', 'design-verifier'].map(
    (agent_id): [string, string, string, CoordinationPlan] => [
      `DP3: the agent ${agent_id}, which takes no tasks`,
      'DP3',
      'agents/0/agent_id',
      samplePlan({ agents: agents.map((one, at) => (at === 0 ? { ...one, agent_id } : one)) }),
    ],
  ),
  ...['engineer', 'workflow-designer'].map(
    (agent_id): [string, string, string, CoordinationPlan] => [
      `DP3: a draft in the place of the agent ${agent_id}`,
      'DP3',
      'new_agents/0/agent_id',
      samplePlan({ new_agents: [{ ...draft, agent_id }] }),
    ],
  ),
  [
    'DP4: a task of an unknown agent',
    'DP4',
    'tasks/3/agent',
    withTask(3, () => ({ agent: 'ghost', outputs: [{ path: 'docs.md', format: 'Markdown' }] })),
  ],
  [
    'DP4: a task of a verifier',
    'DP4',
    'tasks/3/agent',
    withTask(
      3,
      () => ({
        agent: 'idle_agent',
        outputs: [{ path: 'agents/idle_agent/task_output/docs.md', format: 'Markdown' }],
      }),
      samplePlan({ agents: [...agents, { ...idle, role: 'verifier' }] }),
    ),
  ],
  ['DP5: an agent without work', 'DP5', 'agents/3', samplePlan({ agents: [...agents, idle] })],
  [
    'DP6: a dependency on an unknown task',
    'DP6',
    'tasks/3/depends_on/0',
    withTask(3, () => ({ depends_on: ['ghost_1727539200'] })),
  ],
  [
    'DP6: a dependency on itself',
    'DP6',
    'tasks/3/depends_on/0',
    withTask(3, ({ task_id }) => ({ depends_on: [task_id] })),
  ],
  [
    'DP7: a cycle of dependencies',
    'DP7',
    'tasks/0/depends_on',
    withTask(0, () => ({ depends_on: ['api_1727539200'] })),
  ],
  [
    'DP19: a task without evidence',
    'DP19',
    'tasks/3/validation/evidence',
    withTask(3, ({ validation }) => ({ validation: { ...validation, evidence: [] } })),
  ],
  ...[
    'The docs are good.',
    'It is fast enough',
    'The design is appropriate',
    'TBD',
    'TODO: name the command that shows it',
  ].map((description): [string, string, string, CoordinationPlan] => [
    `DP20: the evidence "${description}"`,
    'DP20',
    'tasks/3/validation/evidence/0/description',
    withEvidence(3, description),
  ]),
  [
    'DP21: an evidence_id twice',
    'DP21',
    'tasks/3/validation/evidence/0/evidence_id',
    withEvidence(3, 'The file has 3 sections.', 'api-done'),
  ],
  ...['ghost', 'database_agent'].map((verified_by): [string, string, string, CoordinationPlan] => [
    `DP22: ${verified_by} as a verifier`,
    'DP22',
    'tasks/3/validation/verified_by',
    withTask(3, ({ validation }) => ({ validation: { ...validation, verified_by } })),
  ]),
  [
    'DP23: an agent that verifies its own work',
    'DP23',
    'tasks/3/validation/verified_by',
    withTask(3, ({ agent, validation }) => ({ validation: { ...validation, verified_by: agent } })),
  ],
  [
    'DP23: an agent that verifies its own work under another name',
    'DP23',
    'tasks/3/validation/verified_by',
    withTask(
      3,
      () => ({
        agent: 'idle_agent',
        outputs: [{ path: 'agents/idle_agent/task_output/docs.md', format: 'Markdown' }],
      }),
      samplePlan({ agents: [...agents, { ...idle, agent_id: 'reviewer' }] }),
    ),
  ],
  [
    'DP30: a member that takes no tasks',
    'DP30',
    'agents/2/triad/members/0/agent_id',
    withJury(['leader', 'reviewer', 'reviewer']),
  ],
  [
    'DP30: a verifier that is not the member that writes',
    'DP30',
    'agents/2/agent_id',
    withJury(['reviewer', 'reviewer', 'reviewer'], { agent_id: 'engineer' }),
  ],
  [
    'DP24: a proof of concept of an unknown risk',
    'DP24',
    'tasks/0/proof_of_concept/risk_id',
    samplePlan({ risks: [] }),
  ],
  [
    'DP25: a proof of concept that no task waits for',
    'DP25',
    'tasks/0',
    withTask(1, () => ({ depends_on: [] })),
  ],
  [
    'DP26: a risk_id twice',
    'DP26',
    'risks/1/risk_id',
    samplePlan({ risks: risk === undefined ? [] : [risk, risk] }),
  ],
  [
    'DP28: a draft that nobody works as',
    'DP28',
    'new_agents/0/agent_id',
    samplePlan({ new_agents: [{ ...draft, agent_id: 'migrator' }] }),
  ],
];

describe('checkCoordinationPlan', () => {
  it('the sample plan is a plan and has no finding', () => {
    expect(CoordinationPlan.parse(samplePlan())).toEqual(samplePlan());
    expect(check(samplePlan())).toEqual([]);
  });

  it.each(faults)('%s is the one finding', (_name, rule, path, plan) => {
    expect(check(plan)).toEqual([[rule, path]]);
    for (const { message, cure } of checkCoordinationPlan(plan, { agents: planAgents })) {
      expect(message).toMatch(/\S \S/);
      expect(cure).toMatch(/^[A-Z]/);
    }
  });

  it('DP23, DP30: a triad may verify what none of its members has made', () => {
    expect(check(withJury(['reviewer', 'reviewer', 'reviewer']))).toEqual([]);
    const own = check(withJury(['reviewer', 'engineer', 'reviewer']));
    const places = [0, 1, 2, 3].map((at) => ['DP23', `tasks/${at}/validation/verified_by`]);
    expect(own).toEqual(places);
    const [doer] = agents;
    const [, , jury] = withJury(['reviewer', 'reviewer', 'reviewer']).agents;
    const misplaced = agents.map((one) =>
      one === doer ? { ...one, ...(jury?.triad && { triad: jury.triad }) } : one,
    );
    expect(check(samplePlan({ agents: misplaced }))).toEqual([['DP30', 'agents/0/triad']]);
  });

  it('a draft can be in the roster, an author may change its file, and a later task may too', () => {
    const drafted = agents.map((one, at) => (at === 0 ? { ...one, agent_id: 'tester' } : one));
    expect(check(samplePlan({ agents: drafted, new_agents: [draft] }))).toEqual([]);
    const code = { path: 'src/api.ts', format: 'TypeScript' };
    const input = { ...code, from: null };
    const first = withTask(2, ({ inputs }) => ({ inputs: [...inputs, input], outputs: [code] }));
    const both = withTask(
      3,
      () => ({
        depends_on: ['api_1727539200'],
        inputs: [{ ...code, from: 'api_1727539200' }],
        outputs: [code],
      }),
      first,
    );
    expect(check(both)).toEqual([]);
  });

  it.each([
    'All tests pass.',
    'Every page loads well below 200 ms.',
    '`npm test` ends as expected.',
    'The file lists the tables.',
    'The result is well-formed JSON.',
    'The linter reports a clean tree.',
    'No TODO is left in src',
  ])('the evidence "%s" can be measured', (description) => {
    expect(check(withEvidence(3, description))).toEqual([]);
  });
});
