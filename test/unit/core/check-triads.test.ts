import type { AgentSummary } from '../../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import { checkPlan } from '../../../core/plan/check-plan.ts';
import type { ExecutorContext } from '../../../core/plan/check-executors.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { delegation, plan } from './builders.ts';
import type { TriadMember, TriadOutline } from '../../../contracts/triad.ts';

const agent = (agent_id: string): AgentSummary => ({
  agent_id,
  allowed_tools: [],
  risk_level: 'low',
});

const context: ExecutorContext = {
  agents: ['planner', 'engineer', 'reviewer', 'writer'].map(agent),
  triads: true,
  models: ['big', 'small'],
  teams: null,
};

const faultsOf = (delegations: readonly DelegationOutline[], over: Partial<ExecutorContext> = {}) =>
  checkPlan(plan(delegations), {
    ...context,
    criteria: [],
    known_inputs: [],
    delegation_ids: [],
    fingerprints: {},
    answered_questions: [],
    stale: [],
    limits: defaultLimits,
    ...over,
  });

const proposer: TriadMember = { name: 'ada', role: 'proposer', agent_id: 'engineer' };
const critic: TriadMember = { name: 'ben', role: 'critic', agent_id: 'reviewer' };
const synthesizer: TriadMember = { name: 'cleo', role: 'synthesizer', agent_id: 'writer' };

const triad = (over: Partial<TriadOutline> = {}): TriadOutline => ({
  type: 'dialectic',
  reason: 'It is hard to undo.',
  members: [proposer, critic, synthesizer],
  sections: [{ section_id: 'd1-done' }],
  ...over,
});

const check = (
  over: Partial<TriadOutline> = {},
  delegated: Partial<DelegationOutline> = {},
  around: Partial<ExecutorContext> = {},
) =>
  faultsOf(
    [
      delegation('d1', {
        agent_id: 'writer',
        executor: { kind: 'triad', ...triad(over) },
        ...delegated,
      }),
    ],
    around,
  );

const at = 'delegations[0].triad.members';

const ids = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);

const named = (...section_ids: readonly string[]) =>
  section_ids.map((section_id) => ({ section_id }));

it('PT1: a good triad has no faults where triads are allowed, and is refused where they are not', () => {
  expect(check()).toEqual([]);
  const [fault, ...others] = check({ members: [critic, critic, critic] }, {}, { triads: false });
  expect(fault?.path).toBe('delegations[0].triad');
  expect(fault?.hint).toBe('Try: leave triad out; then the agent works alone');
  expect(others).toEqual([]);
});

it.each([
  ['hierarchical', ['orchestrator', 'worker', 'worker'], 'engineer'],
  ['dialectic', ['proposer', 'critic', 'synthesizer'], 'reviewer'],
  ['consensus', ['peer', 'peer', 'peer'], 'writer'],
] as const)('PT2 and PT4: a %s triad is %j, and its writer is found', (type, roles, agent_id) => {
  const agents = ['writer', 'engineer', 'reviewer'];
  const members = roles.map((role, i) => ({ name: `m${i}`, role, agent_id: agents[i] ?? '' }));
  expect(check({ type, members }, { agent_id })).toEqual([]);
  expect(check({ type, members }, { agent_id: 'nobody' }).map(({ hint }) => hint)).toContain(
    `Try: "${agent_id}"`,
  );
});

it('PT2: members out of their order are told where each belongs', () => {
  const faults = check({ members: [critic, proposer, synthesizer] });
  expect(faults.map(({ path }) => path)).toEqual([`${at}[0].role`, `${at}[1].role`]);
  expect(faults[0]?.reason).toBe('members[0] of a dialectic triad is its proposer, not its critic');
  expect(faults[0]?.hint).toBe('Try: members in the order proposer, critic, synthesizer');
});

it('PT2: names are unique, and none is the name of a record', () => {
  const twice = check({ members: [proposer, { ...critic, name: 'ada' }, synthesizer] });
  expect(twice.map(({ path }) => path)).toEqual([`${at}[1].name`]);
  const reserved = check({ members: [{ ...proposer, name: 'output' }, critic, synthesizer] });
  expect(reserved.map(({ hint }) => hint)).toEqual(['Try: "proposer"']);
});

it('PT3: members are agents of the registry, and never the planner', () => {
  const faults = check({
    members: [{ ...proposer, agent_id: 'nobody' }, { ...critic, agent_id: 'planner' }, synthesizer],
  });
  expect(faults.map(({ path }) => path)).toEqual([`${at}[0].agent_id`, `${at}[1].agent_id`]);
  expect(faults[0]?.hint).toBe('Try: one of "engineer", "reviewer", "writer"');
});

it('PT4: the delegation has the agent of the member who writes', () => {
  const [fault] = check({}, { agent_id: 'engineer' });
  expect(fault?.path).toBe('delegations[0].agent_id');
  expect(fault?.reason).toContain('its synthesizer "cleo"');
  expect(fault?.hint).toBe('Try: "writer"');
});

it('PT5: a spec has at most twelve sections, also when criteria are its sections', () => {
  expect(check({ sections: named(...ids(12)) })).toEqual([]);
  const [fault] = check({ sections: named(...ids(13)) }, { criterion_ids: ids(13) });
  expect(fault?.path).toBe('delegations[0].triad.sections');
  expect(fault?.reason).toContain('13 sections, the limit is 12');
});

it('PT5: a section stands once; a criterion that stands twice is told as a criterion', () => {
  expect(check({ sections: named('a', 'b', 'a') }).map(({ path }) => path)).toEqual([
    'delegations[0].triad.sections[2].section_id',
  ]);
  const twice = ['c', 'c'];
  expect(
    check({ sections: named(...twice) }, { criterion_ids: twice }).map(({ path }) => path),
  ).toEqual(['delegations[0].acceptance_criteria[1].criterion_id']);
});

const carries = (id: string) => [{ section_id: 'tables', criterion_ids: [id] }];

it('PT7: a section carries criteria of its own delegation', () => {
  expect(check({ sections: carries('d1-done') })).toEqual([]);
  expect(check({ sections: carries('speed') })).toEqual([
    {
      path: 'delegations[0].triad.sections[0].criterion_ids',
      reason: 'the delegation has no criterion "speed"',
      hint: 'Try: leave criterion_ids out, or name some of "d1-done"',
    },
  ]);
});

it('PT6: a model is one that the run knows', () => {
  const members = [{ ...proposer, model: 'big' }, { ...critic, model: 'made-up' }, synthesizer];
  expect(check({ members })).toEqual([
    {
      path: `${at}[1].model`,
      reason: 'this run knows no model "made-up"',
      hint: 'Try: leave it out, for the agent\'s own, or one of "big", "small"',
    },
  ]);
  const [first] = check({ members }, {}, { models: [] });
  expect(first?.hint).toBe("Try: leave it out, for the agent's own");
});

it('PT2: all faults of all triads come at once', () => {
  const bad = triad({ members: [critic, critic, { ...critic, agent_id: 'nobody' }] });
  const faults = faultsOf(
    ['d1', 'd2'].map((id) => delegation(id, { executor: { kind: 'triad', ...bad } })),
  );
  for (const i of [0, 1]) {
    const mine = faults.filter(({ path }) => path.startsWith(`delegations[${i}].triad`));
    expect(mine.length).toBeGreaterThanOrEqual(5);
  }
  for (const { hint } of faults) expect(hint).toMatch(/^Try: /);
});
