import { ApplicationFailure } from '@temporalio/common';
import type { TeamMember } from '../../../contracts/team.ts';
import { engineLimits } from '../../../core/limits.ts';
import { recordOf } from '../activities/bench.ts';
import { createTeamBench } from './team-bench.ts';
import type { TeamBench } from './team-bench.ts';

const message = 'Compare three ways\nto store sensor data.';

const triad: NonNullable<TeamMember['triad']> = {
  type: 'dialectic',
  reason: 'It is hard to undo.',
  members: (['proposer', 'critic', 'synthesizer'] as const).map((role) => ({
    name: role,
    role,
    agent_id: role === 'synthesizer' ? 'writer' : 'researcher',
  })),
};

const members: TeamMember[] = [
  { id: 'researcher' },
  { id: 'ann', agent_id: 'writer' },
  { id: 'three', triad },
  { id: 'desk', team_id: 'desk' },
];

const desk = { team_id: 'desk', leader: 'writer', members: [{ id: 'researcher' }] };

const open = (team = { members }) =>
  createTeamBench({
    task: {
      agent_id: 'leader',
      task_description: message,
      executor: { kind: 'team', ...team },
    },
    teams: [desk],
  });

const openTeam = (bench: TeamBench, delegation_id = 'task') => {
  const { registry_ref, plan_ref } = bench;
  return bench.openTeam({ run_id: 'my-run', registry_ref, plan_ref, delegation_id });
};

/** Gives one task to each of these members, with `inputs`. */
const planTasks = async (
  bench: TeamBench,
  ids: readonly string[],
  inputs: readonly string[] = [],
) => {
  const tasks = await Promise.all(
    ids.map(async (member_id, i) => ({
      delegation_id: `task.d${i + 1}`,
      member_id,
      title: `Task ${i + 1}`,
      task_ref: await bench.store.put(`What ${member_id} is to do.`),
      inputs,
    })),
  );
  const { registry_ref, plan_ref } = bench;
  return bench.planTasks({ registry_ref, plan_ref, delegation_id: 'task', tasks });
};

const failureOf = async (work: Promise<unknown>): Promise<ApplicationFailure> => {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (error instanceof ApplicationFailure) return error;
  throw new Error('It did not fail.');
};

describe('openTeam', () => {
  it('gives the team of a plan, and the message as text', async () => {
    const bench = await open();
    const { setup, message_ref } = await openTeam(bench);
    expect(await bench.store.getText(message_ref)).toBe(message);
    expect(setup).toMatchObject({ team_id: null, leader: 'leader', max_parallel: 3 });
    expect(setup.members.map(({ executor_id }) => executor_id)).toEqual([
      'agent:researcher',
      'agent:writer',
      'triad:dialectic:researcher,researcher,writer',
      'team:desk',
    ]);
  });

  it('gives the team of that name', async () => {
    const bench = await createTeamBench({
      task: { agent_id: 'writer', executor: { kind: 'team', team_id: 'desk' } },
      teams: [{ ...desk, timeout: 90, instructions: 'Be quick.' }],
    });
    const { setup } = await openTeam(bench);
    expect(setup).toMatchObject({ team_id: 'desk', leader: 'writer', timeout: 90 });
    expect(setup).not.toHaveProperty('instructions');
  });

  it('refuses a team that there is not, and says which there are', async () => {
    const bench = await createTeamBench({
      task: { executor: { kind: 'team', team_id: 'news' } },
      teams: [desk],
    });
    const failure = await failureOf(openTeam(bench));
    expect(failure).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    expect(failure.message).toContain('there is no team "news". Teams are: "desk"');
  });

  it.each(['other', 'nobody'])('says that the plan gives no team to %j', async (id) => {
    const bench = await open();
    expect(await failureOf(openTeam(bench, id))).toMatchObject({ type: 'ArtifactCorrupt' });
  });
});

describe('planTasks', () => {
  it('makes a delegation of each task, in their order', async () => {
    const bench = await open();
    const { plan_ref, delegations } = await planTasks(
      bench,
      ['ann', 'three', 'desk', 'ann'],
      ['task.d0'],
    );
    expect(await bench.read(plan_ref)).toMatchObject({ needs_user_input: false });
    expect(delegations).toMatchObject([
      { delegation_id: 'task.d1', agent_id: 'writer', title: 'Task 1' },
      {
        delegation_id: 'task.d2',
        agent_id: 'writer',
        executor: { kind: 'triad', sections: [{ section_id: 'c1' }] },
      },
      { delegation_id: 'task.d3', agent_id: 'writer', executor: { kind: 'team', team_id: 'desk' } },
      { delegation_id: 'task.d4', agent_id: 'writer' },
    ]);
    expect(delegations[0]).not.toHaveProperty('triad');
    expect(delegations[0]).not.toHaveProperty('team');
    for (const one of delegations) {
      expect(one).toMatchObject({
        criterion_ids: ['c1'],
        required_inputs: ['goal', 'task.d0'],
        provided_inputs: ['goal', 'task.d0'],
        depends_on: [],
        produces: [],
      });
    }
    expect(await bench.read(plan_ref)).toMatchObject({
      delegations: [
        {
          task_description: 'What ann is to do.',
          acceptance_criteria: [
            { criterion_id: 'c1', description: 'The task is done as described.' },
          ],
        },
        { executor: { kind: 'triad', ...triad } },
        {},
        {},
      ],
    });
  });

  it('gives the same for the same call', async () => {
    const bench = await open();
    const first = await planTasks(bench, ['ann', 'researcher']);
    expect(await planTasks(bench, ['ann', 'researcher'])).toEqual(first);
  });

  it('plans for a team that is a member, three levels down', async () => {
    const bench = await open();
    const { plan_ref } = await planTasks(bench, ['desk'], ['x'.repeat(122)]);
    const { setup } = await bench.openTeam({
      run_id: 'my-run',
      registry_ref: bench.registry_ref,
      plan_ref,
      delegation_id: 'task.d1',
    });
    expect(setup).toMatchObject({ team_id: 'desk', leader: 'writer' });
    const task_ref = await bench.store.put('Look it up.');
    const below = await bench.planTasks({
      registry_ref: bench.registry_ref,
      plan_ref,
      delegation_id: 'task.d1',
      tasks: [
        { delegation_id: 'task.d1.d1', member_id: 'researcher', title: 'T', task_ref, inputs: [] },
      ],
    });
    expect(below.delegations).toMatchObject([{ delegation_id: 'task.d1.d1' }]);
  });

  it('plans a task that is given all that a team and its own delegation can have', async () => {
    const bench = await open();
    const inputs = Array.from(
      { length: engineLimits.teamDelegationsMax - 1 + 20 },
      (_, i) => `in-${i}`,
    );
    const { plan_ref } = await planTasks(bench, ['desk'], inputs);
    await expect(openTeam({ ...bench, plan_ref }, 'task.d1')).resolves.toMatchObject({
      setup: { team_id: 'desk' },
    });
  });

  it('refuses a member that there is not', async () => {
    const failure = await failureOf(planTasks(await open(), ['ann', 'eve']));
    expect(failure.type).toBe('InvalidInput');
    expect(failure.message).toContain(
      'no member "eve". Members are: "researcher", "ann", "three", "desk"',
    );
  });
});

const rewrite = async (bench: TeamBench, goal: string, text: string) => {
  const record = { ...recordOf(bench.registry_ref), goal, goal_title: 'Compare three ways' };
  const { plan_ref, record_ref } = await bench.rewriteTask({
    record_ref: await bench.put(record),
    plan_ref: bench.plan_ref,
    delegation_id: 'task',
    message_ref: await bench.store.put(text),
  });
  return { record, plan: await bench.read(plan_ref), rewritten: await bench.read(record_ref) };
};

describe('rewriteTask', () => {
  it('puts the text in the place of the old one: in the plan, and as the goal', async () => {
    const { record, plan, rewritten } = await rewrite(await open(), message, 'Other words.\nMore.');
    expect(plan).toMatchObject({
      delegations: [
        { delegation_id: 'other', task_description: 'Do other.' },
        { delegation_id: 'task', task_description: 'Other words.\nMore.', title: 'Title of task' },
      ],
    });
    expect(rewritten).toEqual({
      ...record,
      goal: 'Other words.\nMore.',
      goal_title: 'Other words.',
    });
  });

  it('leaves a goal that is another text, and a title that says something else', async () => {
    const { record, rewritten } = await rewrite(await open(), 'Another goal.', 'Other words.');
    expect(rewritten).toEqual(record);
  });

  it('leaves nothing of the old text in a title that was made of it', async () => {
    const bench = await createTeamBench({
      task: {
        task_description: message,
        title: 'Compare three ways',
        executor: { kind: 'team', members },
      },
    });
    const { plan } = await rewrite(bench, message, 'Other words.\nMore.');
    expect(plan).toMatchObject({ delegations: [{}, { title: 'Other words.' }] });
  });

  it.each([
    ['nothing', '  ', 'nothing is left of it'],
    ['too much', 'x'.repeat(20_001), 'it has 20001 characters'],
  ])('refuses %s', async (_name, text, reason) => {
    const failure = await failureOf(rewrite(await open(), message, text));
    expect(failure).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    expect(failure.message).toContain(reason);
  });
});
