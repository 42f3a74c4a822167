import type { Delegation } from '../../../contracts/delegation.ts';
import { findOwed } from '../../../core/spec/read-spec.ts';
import { agent, createHarness, useHarness } from './harness.ts';
import { writeDelegation } from '../../../core/executor.ts';
import { delegation } from './samples.ts';
import { StoredPlan } from '../../../contracts/wave-plan.ts';
import type { WavePlanOutline } from '../../../contracts/wave-plan.ts';

const harness = useHarness();
const task = 'Design a schema\nfor sensor data.';

const textOf = (ref: string | null): Promise<string> => harness.deps.store.getText(ref ?? '');

const planned = async (ref: string | undefined): Promise<Delegation | undefined> =>
  StoredPlan.parse(JSON.parse(await textOf(ref ?? null))).delegations[0];

/** The sections of the triad that does the first delegation. */
const sectionsOf = (plan: WavePlanOutline | null) => {
  const executor = plan?.delegations[0]?.executor;
  return executor?.kind === 'triad' ? executor.sections : undefined;
};

/** The models of a run whose agents name `own`, where the provider has these. */
const modelsOf = async (
  models: readonly string[],
  input: object = {},
): Promise<readonly string[]> => {
  const at = await createHarness({
    models,
    isPriced: (model) => model !== 'unpriced',
    agents: () => ({ load: async () => [agent('planner'), { ...agent('writer'), model: 'own' }] }),
  });
  return (await at.open('plannerRun', { goal: 'Goal', ...input })).models;
};

it('opens a triad from its type and a task', async () => {
  const { plan, ...opened } = await harness.open('triad', { type: 'dialectic', task });
  expect(opened).toMatchObject({ goal_title: 'Design a schema', triads: true, criteria: [] });
  expect(opened).not.toHaveProperty('phase_start');
  expect(plan?.delegations).toMatchObject([
    {
      delegation_id: 'task',
      agent_id: 'writer',
      title: 'Design a schema',
      criterion_ids: ['c1'],
      executor: {
        kind: 'triad',
        type: 'dialectic',
        members: [
          { name: 'proposer', agent_id: 'researcher' },
          { name: 'critic', agent_id: 'researcher' },
          { name: 'synthesizer', agent_id: 'writer' },
        ],
        sections: [{ section_id: 'c1' }],
      },
    },
  ]);
  expect(sectionsOf(plan)?.[0]).not.toHaveProperty('text');
  expect(await planned(plan?.plan_ref)).toMatchObject({ task_description: task });
  expect((await harness.record(opened.record_ref)).goal).toBe(task);
});

it('takes everything that can be set', async () => {
  const members = ['anna', 'bert', 'carl'].map((name) => ({
    name,
    role: 'peer',
    agent_id: 'writer',
    lens: `what ${name} knows`,
    model: `model-of-${name}`,
  }));
  const given = {
    rounds_max: 2,
    timeouts: { turn_seconds: 60 },
    sections: [{ section_id: 'tables', text: 'All tables.' }],
  };
  const { plan, models } = await harness.open('triad', {
    type: 'consensus',
    task,
    members,
    acceptance_criteria: ['It is in third normal form'],
    ...given,
  });
  expect(await planned(plan?.plan_ref)).toMatchObject({
    acceptance_criteria: [{ criterion_id: 'c1', description: 'It is in third normal form' }],
    executor: { kind: 'triad', type: 'consensus', members, ...given },
  });
  expect(sectionsOf(plan)).toEqual([{ section_id: 'tables' }]);
  expect(models).toEqual(['model-of-anna', 'model-of-bert', 'model-of-carl']);
});

it('gives the same references for the same call', async () => {
  const input = { type: 'dialectic', task, phase: 'negotiate', summary: 'So far.' };
  const first = await harness.open('triadPhase', input);
  expect(await harness.open('triadPhase', input)).toEqual(first);
});

describe('one phase alone', () => {
  const sections = [
    { section_id: 'tables', text: 'All tables.' },
    { section_id: 'indexes', text: 'All indexes.' },
  ];
  const common = { type: 'hierarchical', task, sections };
  const begin = async (input: object) => {
    const { phase_start } = await harness.open('triadPhase', { ...common, ...input });
    if (phase_start === undefined) throw new Error('The phase begins with nothing.');
    return phase_start;
  };
  it('deliberate begins with a spec that nobody owns or claims', async () => {
    expect(await begin({ phase: 'deliberate' })).toMatchObject({
      phase: 'deliberate',
      summary_ref: null,
      spec: {
        negotiators: ['worker-1', 'worker-2'],
        sections: [
          { section_id: 'tables', owner: null, status: 'open', version: 1 },
          { section_id: 'indexes', owner: null, status: 'open', version: 1 },
        ],
        claims: [],
      },
    });
  });

  it('negotiate begins with the typed claims and summary', async () => {
    const claims = [
      { section_id: 'tables', member: 'worker-2', proposal: 'One table.' },
      { section_id: 'tables', member: 'worker-1', proposal: 'Two tables.' },
    ];
    const { spec, summary_ref } = await begin({ phase: 'negotiate', summary: '# So far', claims });
    expect(await textOf(summary_ref)).toBe('# So far');
    expect(spec.claims).toMatchObject([
      { section_id: 'tables', member: 'worker-2', registered_by: 'worker-2', state: 'open' },
      { section_id: 'tables', member: 'worker-1', revision: 1, revised_by: 'worker-1' },
    ]);
    expect(await textOf(spec.claims[1]?.proposal_ref ?? null)).toBe('Two tables.');
    expect(findOwed(spec, 'worker-1')).toEqual([spec.claims[0]?.claim_id]);
  });

  it('negotiate without claims begins with one on each section, of the first who may own it', async () => {
    const { spec } = await begin({ phase: 'negotiate' });
    expect(spec.claims.map(({ section_id, member }) => [section_id, member])).toEqual([
      ['tables', 'worker-1'],
      ['indexes', 'worker-1'],
    ]);
    expect(await textOf(spec.claims[1]?.proposal_ref ?? null)).toBe('All indexes.');
  });

  it.each([
    [undefined, ['worker-1', 'worker-1']],
    [{ indexes: 'worker-2' }, [null, 'worker-2']],
  ])('execute with the owners %j', async (owners, expected) => {
    const { spec } = await begin({ phase: 'execute', ...(owners !== undefined && { owners }) });
    expect(spec.sections.map(({ owner }) => owner)).toEqual(expected);
    expect(spec.claims).toEqual([]);
  });
});

describe('models that members may be given', () => {
  it("are those of agents and of the provider's list, each once", async () => {
    expect(await modelsOf(['own', 'listed'])).toEqual(['own', 'listed']);
  });

  it('are priced where only money is limited', async () => {
    const listed = ['listed', 'unpriced'];
    expect(await modelsOf(listed, { budget: { usd: 5 } })).toEqual(['own', 'listed']);
    expect(await modelsOf(listed, { budget: { usd: 5, tokens: 1_000 } })).toEqual([
      'own',
      ...listed,
    ]);
  });
});

it('a run does with triads, or without', async () => {
  expect((await harness.open('plannerRun', { goal: 'Goal' })).triads).toBe(true);
  expect((await harness.open('plannerRun', { goal: 'Goal', triads: false })).triads).toBe(false);
  const delegations = [writeDelegation(delegation('a'))];
  const wave = { goal: 'Goal', triads: false, delegations };
  expect((await harness.open('plannerWave', wave)).triads).toBe(false);
});
