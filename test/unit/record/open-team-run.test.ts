import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { OpenRunInput, OpenRunResult } from '../../../contracts/activity-types.ts';
import { readRegistry } from '../../../activities/artifacts/read-artifact.ts';
import { readTree } from '../../support/read-tree.ts';
import { agent, createHarness, useHarness } from './harness.ts';
import type { Harness } from './harness.ts';
import { delegation } from './samples.ts';
import { writeDelegation } from '../../../core/executor.ts';

const harness = useHarness();
const message = 'Compare three ways\nto store sensor data.';
const members = ['researcher', 'writer'];
const desk = { team_id: 'desk', leader: 'writer', members: [{ id: 'researcher' }] };

const teamsOf = async (opened: OpenRunResult) =>
  (await readRegistry(harness.deps.store, opened.registry_ref)).teams;

/** Path and reason of every fault. */
const faultsOf = async (
  type: OpenRunInput['workflow_type'],
  input: unknown,
  at: Harness = harness,
): Promise<readonly string[]> => {
  const error: unknown = await at.open(type, input).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApplicationFailure)) throw new Error('It was not refused.');
  expect(error).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
  expect(await readTree(at.home)).toEqual({});
  return z
    .array(z.strictObject({ path: z.string(), reason: z.string() }))
    .parse(error.details?.[0])
    .map(({ path, reason }) => `${path}: ${reason}`);
};

const pathsOf = async (...call: Parameters<typeof faultsOf>): Promise<readonly string[]> =>
  (await faultsOf(...call)).map((fault) => fault.slice(0, fault.indexOf(': ')));

describe('a team that is started alone', () => {
  it('needs a message and members', async () => {
    const opened = await harness.open('team', { message, members });
    expect(opened).toMatchObject({
      goal_title: 'Compare three ways',
      criteria: [],
      teams: [{ team_id: 'this-team', depth: 1, leader: 'researcher' }],
    });
    expect(opened.plan?.delegations).toMatchObject([
      {
        delegation_id: 'task',
        agent_id: 'researcher',
        title: 'Compare three ways',
        criterion_ids: ['c1'],
        executor: { kind: 'team', team_id: 'this-team' },
      },
    ]);
    expect(await teamsOf(opened)).toEqual([
      { team_id: 'this-team', members: [{ id: 'researcher' }, { id: 'writer' }] },
    ]);
    expect((await harness.record(opened.record_ref)).goal).toBe(message);
  });

  it('takes everything that can be set', async () => {
    const given = {
      name: 'News',
      description: 'For news.',
      leader: 'writer',
      instructions: 'Be quick.',
      members: [
        { id: 'ann', agent_id: 'writer', name: 'Ann', description: 'Writes.', priority: 2 },
        { id: 'bob', agent_id: 'writer', capabilities: ['prose'], enabled: false },
        { id: 'below', team_id: 'desk' },
      ],
      allow_parallel: true,
      max_parallel: 5,
      max_delegations: 7,
      timeout: 90.5,
      member_timeout: 100,
      max_retries: 0,
      thread_id: 't',
      user_id: 'u',
    };
    const opened = await harness.open('team', {
      message,
      team_id: 'news',
      ...given,
      teams: [desk],
      acceptance_criteria: ['It is short', 'It is true'],
      limits: { max_turns: 5 },
      use_defaults: true,
    });
    expect(opened).toMatchObject({ use_defaults: true, limits: { max_turns: 5 } });
    expect(opened.teams).toEqual([
      { team_id: 'news', depth: 2, leader: 'writer', agents: ['writer', 'researcher'] },
      { team_id: 'desk', depth: 1, leader: 'writer', agents: ['writer', 'researcher'] },
    ]);
    expect(opened.plan?.delegations).toMatchObject([
      {
        agent_id: 'writer',
        criterion_ids: ['c1', 'c2'],
        executor: { kind: 'team', team_id: 'news' },
      },
    ]);
    expect(await teamsOf(opened)).toEqual([{ team_id: 'news', ...given }, desk]);
  });

  it('may be one of its teams, in a thread of this run', async () => {
    const input = { message, team_id: 'desk', teams: [desk], thread_id: 't' };
    const opened = await harness.open('team', input);
    expect(opened.plan?.delegations).toMatchObject([
      { agent_id: 'writer', executor: { kind: 'team', team_id: 'desk' } },
    ]);
    expect(await teamsOf(opened)).toEqual([{ ...desk, thread_id: 't' }]);
  });

  it('is led by the shipped leader where it names nobody', async () => {
    const at = await createHarness({
      agents: () => ({
        load: async () => ['leader', 'planner', 'researcher', 'writer'].map((id) => agent(id)),
      }),
    });
    const { plan } = await at.open('team', { message, members });
    expect(plan?.delegations[0]?.agent_id).toBe('leader');
  });

  it('gives the same references for the same call', async () => {
    const first = await harness.open('team', { message, members });
    expect(await harness.open('team', { message, members })).toEqual(first);
  });
});

describe('teams that a planner may name', () => {
  it.each(['plannerRun', 'plannerWave'] as const)(
    'of a %s are none, some, or not allowed',
    async (type) => {
      const open = (teams?: unknown) =>
        harness.open(type, { goal: 'Goal', ...(teams !== undefined && { teams }) });
      expect((await open()).teams).toEqual([]);
      expect((await open(false)).teams).toBeNull();
      const opened = await open([desk]);
      expect(opened.teams).toEqual([
        { team_id: 'desk', depth: 1, leader: 'writer', agents: ['writer', 'researcher'] },
      ]);
      expect(await teamsOf(opened)).toEqual([desk]);
    },
  );

  it('may be given to a typed delegation', async () => {
    const planned = {
      ...writeDelegation(delegation('a', { agent_id: 'writer' })),
      team: { team_id: 'desk' },
    };
    const wave = { goal: 'Goal', delegations: [planned] };
    const { plan } = await harness.open('plannerWave', { ...wave, teams: [desk] });
    expect(plan?.delegations[0]?.executor).toEqual({ kind: 'team', team_id: 'desk' });
  });

  it('are the only ones that a typed delegation may name', async () => {
    const planned = {
      ...writeDelegation(delegation('a', { agent_id: 'writer' })),
      team: { team_id: 'desk' },
    };
    const wave = { goal: 'Goal', delegations: [planned] };
    expect(await pathsOf('plannerWave', { ...wave, teams: false })).toEqual([
      'delegations[0].team',
    ]);
    expect(await faultsOf('plannerWave', wave)).toEqual([
      'delegations[0].team.team_id: there is no team "desk". Try: members instead of team_id',
    ]);
  });

  it('are none for what has no planner', async () => {
    const task = { agent_id: 'writer', task_description: 'Write.' };
    expect((await harness.open('delegation', task)).teams).toBeNull();
    expect((await harness.open('triad', { type: 'consensus', task: 'Judge.' })).teams).toBeNull();
  });
});

describe('faults of a team', () => {
  it.each<[string, object, string]>([
    ['case 5.3: no members', {}, 'members: the team has no members'],
    ['case 5.3: an empty list', { members: [] }, 'members: the team has no members'],
    [
      'case 5.4: no agent',
      { members: ['nobody'] },
      'members[0]: there is no agent "nobody". Try: one of',
    ],
    [
      'case 5.4: no id of any agent',
      { members: ['No Body'] },
      'members[0]: there is no agent "No Body"',
    ],
    [
      'case 5.4: null',
      { members: [{ id: 'ann', agent_id: null }] },
      'members[0].agent_id: Invalid input: expected string, received null',
    ],
    ['no member at all', { members: [7] }, 'members[0]: expected a member. Try: "writer"'],
    [
      'a field that members have not',
      { members: [{ id: 'writer', agent: 'writer' }] },
      'Fields are: "id", "name", "description", "agent_id", "triad"',
    ],
    [
      'a field that teams have not',
      { members, teams: [{ ...desk, size: 3 }] },
      'Fields are: "team_id", "name"',
    ],
    [
      'case 5.2: a limit of 0',
      { members, max_delegations: 0 },
      'max_delegations: expected a whole number',
    ],
    [
      'a team that is not there',
      { team_id: 'x', members: undefined },
      'team_id: there is no team "x"',
    ],
    [
      'one of its teams, and more',
      { team_id: 'desk', teams: [desk], timeout: 9 },
      'timeout: the team "desk" of teams brings its own. Try: leave it out',
    ],
    [
      'the name of another one',
      { members, teams: [{ ...desk, team_id: 'this-team' }] },
      'teams[0].team_id: "this-team" is the name of another team',
    ],
    [
      'a name nobody has',
      { members, guardrails: { input: ['orders'] } },
      'guardrails.input[0]: the worker',
    ],
  ])('%s', async (_name, input, expected) => {
    expect(await faultsOf('team', { message, ...input })).toContainEqual(
      expect.stringContaining(expected),
    );
  });

  it('case 5.1: a member timeout over that of the team is none', async () => {
    const input = { message, members, timeout: 60, member_timeout: 120 };
    expect((await harness.open('team', input)).plan).not.toBeNull();
  });

  it('part of fault 28: come all at once, with those of the shape', async () => {
    const input = {
      mesage: 'x',
      members: ['writer', 'writer', { id: 'Ann' }, { id: 'bob', agent: 'writer' }, 'planner', 7],
      max_parallel: 0,
      timeout: 'long',
      leader: 'boss',
      teams: [
        { team_id: 'desk', members: [{ id: 'x', team_id: 'news', agent_id: 'writer' }] },
        'news',
      ],
    };
    expect((await pathsOf('team', input)).toSorted()).toEqual([
      'input',
      'leader',
      'max_parallel',
      'members[1]',
      'members[2].id',
      'members[3]',
      'members[3].id',
      'members[4]',
      'members[5]',
      'message',
      'teams[0].members[0]',
      'teams[0].members[0].team_id',
      'teams[1]',
      'timeout',
    ]);
  });

  it('part of fault 29: show the cycle', async () => {
    const input = {
      goal: 'Goal',
      teams: [
        { team_id: 'desk', members: [{ id: 'a', team_id: 'news' }] },
        { team_id: 'news', members: [{ id: 'b', team_id: 'desk' }] },
      ],
    };
    expect(await faultsOf('plannerRun', input)).toEqual([
      'teams[1].members[0].team_id: these teams contain each other: desk→news→desk. Try: take one of them out of the other',
    ]);
  });

  it('are those of the rest too, and none where agents could not be read', async () => {
    const at = await createHarness({
      models: ['big'],
      isPriced: (model) => model === null || model === 'big',
      agents: () => ({ load: async () => [agent('planner'), agent('writer')] }),
    });
    const input = { message, members: ['writer'], model: 'huge', budget: { usd: 5 } };
    expect(await faultsOf('team', input, at)).toEqual([
      'model: this run knows no model "huge". Try: leave it out, for the leader\'s own, or one of "big"',
      expect.stringContaining('budget.usd: the price of the model is not known for "this-team"'),
    ]);
    const broken = await createHarness({ agents: () => ({ load: async () => [agent('writer')] }) });
    expect(await pathsOf('team', { message, members: ['nobody'] }, broken)).toEqual(['agents']);
  });
});
