import { defaultLimits } from '../../../core/limits.ts';
import { agent, createHarness, startedAt, useHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import { delegation } from './samples.ts';
import { writeDelegation } from '../../../core/executor.ts';
import { StoredPlan } from '../../../contracts/wave-plan.ts';

const harness = useHarness();

it('opens a run from a goal alone', async () => {
  const opened = await harness.open('plannerRun', { goal: '  Compare ways\nat length ' });
  expect(opened).toMatchObject({
    goal_title: 'Compare ways',
    limits: defaultLimits,
    use_defaults: false,
    autonomy: 'ask',
    questions: { deadline_seconds: null, remind_seconds: 604_800, escalate_to: null },
    criteria: [],
    known_inputs: ['goal'],
    plan: null,
  });
  expect(opened.agents).toEqual([
    { agent_id: 'planner', allowed_tools: [], risk_level: 'low' },
    { agent_id: 'researcher', allowed_tools: [], risk_level: 'low' },
    { agent_id: 'writer', allowed_tools: [], risk_level: 'low' },
  ]);
  expect(await harness.deps.index.read('my-run')).toEqual({
    ref: opened.record_ref,
    version: 1,
  });
  expect(await harness.record(opened.record_ref)).toMatchObject({
    version: 1,
    revision: 0,
    previous_ref: null,
    run_id: 'my-run',
    goal: 'Compare ways\nat length',
    started_at: startedAt,
    phase: 'intake',
  });
});

it.each([
  ['pt-br', 'pt-BR'],
  [undefined, undefined],
])('finding F10: the language %j stands in the record as %j', async (language, recorded) => {
  const { record_ref } = await harness.open('plannerRun', {
    goal: 'Compare ways',
    ...(language !== undefined && { language }),
  });
  expect((await harness.record(record_ref)).language).toBe(recorded);
});

it('takes everything that can be set', async () => {
  const opened = await harness.open('plannerRun', {
    goal: 'Compare ways',
    constraints: ['Free software only'],
    criteria: ['It is cheap', 'It is quick'],
    mode: 'direct',
    use_defaults: true,
    autonomy: 'assume',
    questions: { deadline_seconds: 60, escalate_to: { person: ' Maria ', after_seconds: 30 } },
    limits: { max_waves: 2 },
  });
  expect(opened).toMatchObject({
    limits: { ...defaultLimits, max_waves: 2 },
    use_defaults: true,
    autonomy: 'assume',
    questions: {
      deadline_seconds: 60,
      remind_seconds: 604_800,
      escalate_to: { person: 'Maria', after_seconds: 30 },
    },
    criteria: [
      { criterion_id: 'goal-1', state: 'open', delegation_id: null },
      { criterion_id: 'goal-2', state: 'open', delegation_id: null },
    ],
    known_inputs: ['goal', 'constraints'],
  });
  expect((await harness.record(opened.record_ref)).criteria[1]?.description).toBe('It is quick');
});

it('keeps a snapshot of the agents that this run goes on with', async () => {
  const opened = await harness.open('plannerRun', { goal: 'Goal' });
  expect(JSON.parse(await harness.deps.store.getText(opened.registry_ref))).toEqual({
    agents: [agent('planner'), agent('researcher'), agent('writer')],
    designers: [],
    teams: [],
  });
});

it('gives the same references for the same call', async () => {
  const input = { goal: 'Goal', delegations: [writeDelegation(delegation('a'))] };
  const first = await harness.open('plannerWave', input);
  const tree = await readTree(harness.home);
  expect(await harness.open('plannerWave', input)).toEqual(first);
  expect(await readTree(harness.home)).toEqual(tree);
});

describe('another start with the same id', () => {
  const start = { workflow_type: 'plannerRun', run_id: 'my-run', started_at: startedAt } as const;
  const open = (input: object, chain_id?: string): Promise<unknown> =>
    harness.openRun({ ...start, input, ...(chain_id !== undefined && { chain_id }) });

  it.each([
    ['run', 'one'],
    ['child', undefined],
  ])('is refused, and changes nothing of the first one, a %s', async (_, chain_id) => {
    await open({ goal: 'First' }, chain_id);
    const tree = await readTree(harness.home);
    await expect(open({ goal: 'Second' }, 'two')).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining(
        '- --workflow-id: a run "my-run" exists already in this store, also if the server has forgotten it. Try: another id (planwave: --id)',
      ),
    });
    expect(await readTree(harness.home)).toEqual(tree);
  });

  it('is taken where the first was refused, or goes on after a reset', async () => {
    await expect(open({ goal: '' }, 'one')).rejects.toMatchObject({ type: 'InvalidInput' });
    await open({ goal: 'Third' }, 'three');
    await open({ goal: 'Third, once more' }, 'three');
    await open({ goal: 'Third, as a child' });
  });
});

it('refuses a place in the queues that only the start command gives, and that no run can have', async () => {
  const start = { workflow_type: 'plannerRun', run_id: 'my-run', started_at: startedAt } as const;
  const load = { priority: 9, tenant: 'two words' };
  const input = { goal: 'Goal' };
  await expect(harness.openRun({ ...start, input, load })).rejects.toMatchObject({
    type: 'InvalidInput',
    details: [[{ path: '--fairness-key' }, { path: '--priority-key' }]],
  });
  const own = { ...input, priority: 2, tenant: 'acme' };
  const opened = await harness.openRun({ ...start, input: own, load });
  expect(opened).toMatchObject({ load: { priority: 2, tenant: 'acme' } });
});

it("loads the user's own agents from the folder that the input names", async () => {
  const dirs: (string | null)[] = [];
  const at = await createHarness({
    agents: (dir) => {
      dirs.push(dir);
      return { load: async () => [agent('planner')] };
    },
  });
  await at.open('plannerRun', { goal: 'Goal' });
  await at.open('plannerRun', { goal: 'Goal', agents_dir: 'my-agents' });
  expect(dirs).toEqual([null, 'my-agents']);
});

describe('with a plan of its own', () => {
  it('stores the plan of a wave and outlines it', async () => {
    const delegations = [
      delegation('a', { produces: ['report'] }),
      delegation('b', { required_inputs: ['report'], provided_inputs: [], depends_on: ['a'] }),
    ];
    const { plan } = await harness.open('plannerWave', {
      goal: 'Goal',
      delegations: delegations.map(writeDelegation),
    });
    const stored = StoredPlan.parse(
      JSON.parse(await harness.deps.store.getText(plan?.plan_ref ?? '')),
    );
    expect(stored.delegations).toEqual(delegations);
    expect(plan?.delegations).toMatchObject([
      { delegation_id: 'a', criterion_ids: ['a-1'], produces: ['report'] },
      { delegation_id: 'b', criterion_ids: ['b-1'], depends_on: ['a'] },
    ]);
    expect(plan?.delegations[0]).not.toHaveProperty('task_description');
    expect(plan?.delegations[0]?.fingerprint).not.toBe(plan?.delegations[1]?.fingerprint);
  });

  it('makes a plan of one delegation that was started alone', async () => {
    const opened = await harness.open('delegation', {
      agent_id: 'writer',
      task_description: 'Write a poem\nabout rain.',
      acceptance_criteria: ['It rhymes', 'It is short'],
    });
    expect(opened).toMatchObject({
      goal_title: 'Write a poem',
      criteria: [],
      known_inputs: ['goal'],
      plan: {
        delegations: [
          {
            delegation_id: 'task',
            agent_id: 'writer',
            title: 'Write a poem',
            criterion_ids: ['c1', 'c2'],
            required_inputs: ['goal'],
            provided_inputs: ['goal'],
            depends_on: [],
            produces: [],
          },
        ],
      },
    });
    expect((await harness.record(opened.record_ref)).goal).toBe('Write a poem\nabout rain.');
  });

  it('gives a lone delegation one criterion when none is typed', async () => {
    const { plan } = await harness.open('delegation', {
      agent_id: 'writer',
      task_description: 'Write.',
    });
    const stored = StoredPlan.parse(
      JSON.parse(await harness.deps.store.getText(plan?.plan_ref ?? '')),
    );
    expect(stored.delegations[0]?.acceptance_criteria).toEqual([
      { criterion_id: 'c1', description: 'The task is done as described.' },
    ]);
  });
});

it('says what went wrong when it was no fault of the input, and that it is ours', async () => {
  const at = await createHarness({
    agents: () => ({
      load: async () => {
        throw new Error('disk on fire');
      },
    }),
  });
  await expect(at.open('plannerRun', { goal: 'Goal' })).rejects.toMatchObject({
    type: 'Internal',
    message: expect.stringContaining('disk on fire'),
  });
});
