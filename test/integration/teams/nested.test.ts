import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { NamedTeam, TeamMember } from '../../../contracts/team.ts';
import { addUsage, noUsage } from '../../../core/usage/add-usage.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories } from '../../support/histories.ts';
import { playTeam, statusesOf } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  heardResults,
  leaderCalls,
  leads,
  taskCalls,
  taskCriterion,
  teamInput,
} from '../../support/scripted-team.ts';
import { takes, triad } from '../../support/scripted-triad.ts';
import { blocked, completed, held, newestText, question } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

const well = { ...completed(taskCriterion), compact_md: 'The answer is forty-two.' };
const done = { output: completed(taskCriterion) };

const debaters = (id: string): TeamMember => ({ id, triad: triad('dialectic') });

const desk = (team_id: string, ...ids: readonly string[]): NamedTeam => ({
  team_id,
  members: ids.map((id) => ({ id })),
});

/** Adds up the usage of leader and members. */
function addUp(ended: Pick<DelegationOutcome, 'executor'> | undefined) {
  const team = teamOf(ended);
  return addUsage(
    team?.leader.usage ?? noUsage,
    ...(team?.members ?? []).map(({ usage }) => usage),
  );
}

describe('two triads at the same time, and a team in the team', () => {
  let played: Awaited<ReturnType<typeof playTeam>>;
  let ids: string[] = [];

  beforeAll(async () => {
    played = await playTeam(
      stage,
      [
        ...leads([[gives('left'), gives('right'), gives('desk')], done]),
        ...leads([[gives('researcher'), gives('writer')], done], 'task.d3'),
        takes({ phase: 'deliberate', member: 'proposer', nth: 1 }, { pass: true, delayMs: 500 }),
        takes({ phase: 'deliberate', member: 'proposer', nth: 2 }, { pass: true, delayMs: 500 }),
      ],
      teamInput([debaters('left'), debaters('right'), { id: 'desk', team_id: 'desk' }], {
        allow_parallel: true,
        teams: [desk('desk', 'researcher', 'writer')],
      }),
    );
    const histories = await fetchHistories(stage.client, played.runId);
    ids = histories.map(({ workflowId }) => workflowId.slice(played.runId.length));
  });

  it('all do their tasks, and phases are workflows below their task', () => {
    expect(played.result.status).toBe('completed');
    expect(statusesOf(played.report)).toEqual({
      d1: 'completed',
      d2: 'completed',
      d3: 'completed',
    });
    const phases = ['deliberate', 'execute', 'negotiate'];
    const below = ['d1', 'd2'].flatMap((task) => phases.map((phase) => `/${task}/${phase}`));
    expect(ids.toSorted()).toEqual(['', ...below]);
  });

  it('tasks of the inner team have ids below its own', () => {
    const tasks = played.calls().map(({ task }) => task?.delegation_id);
    expect(tasks).toContain('task.d3.d1');
    expect(tasks).toContain('task.d3.d2');
    expect(played.page).toContain('teams/task.d3.md');
  });

  it('leader and members together used what all calls used, at every level', () => {
    const { result, report } = played;
    expect(addUp(result)).toEqual(result.usage);
    expect(result.usage.calls).toBe(played.calls().length);
    const [, , inner] = report.tasks;
    expect(teamOf(inner)?.members.map(({ delegations }) => delegations)).toEqual([1, 1]);
    expect(addUp(inner)).toEqual(inner?.usage);
  });
});

it('fault 37: what a team above has given out is not given out again below, and the way there is shown', async () => {
  const same = 'Find out how much.';
  const { result, report, calls } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher', same)], [gives('outer')], done]),
      ...leads([[gives('inner')], done], 'task.d2'),
      ...leads([[gives('researcher', same)], [gives('writer')], done], 'task.d2.d1'),
    ],
    teamInput(['researcher', { id: 'outer', team_id: 'outer' }], {
      teams: [
        { team_id: 'outer', members: [{ id: 'inner', team_id: 'inner' }] },
        desk('inner', 'researcher', 'writer'),
      ],
    }),
  );
  expect(result.status).toBe('completed');
  expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'completed' });
  expect(taskCalls({ calls }, { agent: 'researcher' })).toHaveLength(1);
  const told = heardResults(leaderCalls({ calls }, 'task.d2.d1')[1])[0]?.text;
  expect(told).toContain('"task.d1"');
  expect(told).toContain('→team:outer→team:inner→agent:researcher→');
  expect(addUp(result)).toEqual(result.usage);
});

/** Teams in one another, so many levels of them. */
const chainOf = (depth: number): NamedTeam[] =>
  Array.from({ length: depth }, (_, at) => ({
    team_id: `t${at + 1}`,
    members: at + 1 === depth ? [{ id: 'writer' }] : [{ id: 'below', team_id: `t${at + 2}` }],
  }));

it('fault 30: teams may be so deep in one another, and no deeper', async () => {
  const member = { id: 'below', team_id: 't1' };
  const { result, report } = await playTeam(stage, [], teamInput([member], { teams: chainOf(2) }));
  expect(result.status).toBe('completed');
  expect(teamOf(report.tasks[0])?.tasks.completed).toBe(1);
  const run = await stage.start('team', teamInput([member], { teams: chainOf(3) }));
  await expect(run.result()).rejects.toMatchObject({
    cause: { type: 'InvalidInput', message: expect.stringContaining('deep in one another') },
  });
});

it('a member of a team in the team asks the user: the others work on, no time passes for anybody above it, and the answer takes it up again', async () => {
  const other = held({ json: well });
  // Seconds, several times what the work takes until it asks, also on a busy machine.
  const timeout = 15;
  stage.rehearsal.script([
    ...leads([[gives('desk'), gives('writer')], done]),
    ...leads([[gives('researcher')], done], 'task.d1'),
    does({ agent: 'researcher', nth: 1 }, { json: blocked([question('Which region?')], 'c1') }),
    does({ agent: 'writer' }, other.reply),
  ]);
  const run = await stage.start(
    'team',
    teamInput([{ id: 'desk', team_id: 'desk' }, 'writer'], {
      allow_parallel: true,
      timeout,
      teams: [{ ...desk('desk', 'researcher'), timeout }],
    }),
  );
  const asked = await openQuestion(stage, run);
  expect(asked).toMatchObject({ text: 'Which region?', delegation_id: 'task' });
  const { delegation } = await stage.status(run);
  expect(delegation).toMatchObject({ state: 'waiting', waiting_for: 'Which region?' });
  // Longer than each may work: what the rule says can be seen in no other way.
  await new Promise((resolve) => setTimeout(resolve, timeout * 1_000 + 500));
  other.release();
  await eventually('the end of the other task', async () => {
    const executor = (await stage.status(run)).delegation?.executor;
    return executor?.kind === 'team' && executor.view?.tasks[1]?.state === 'completed';
  });
  await submit(run, { question_id: asked.question_id, answer: 'eu-west' });
  const result: LoneOutcome = await run.result();
  expect(result).toMatchObject({ status: 'completed', executor: { work: { partial: false } } });
  expect(newestText(taskCalls(stage.rehearsal, { agent: 'researcher' })[1])).toContain('eu-west');
  await expectPromisesKept(stage, run.workflowId);
});
