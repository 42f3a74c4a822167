import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedTeam, TeamPlan } from '../../../contracts/team.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { refusedInput } from '../../support/input-refusal.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  leads,
  members,
  taskCalls,
  taskCriterion,
  teamWork,
} from '../../support/scripted-team.ts';
import { triad } from '../../support/scripted-triad.ts';
import {
  callsOf,
  completed,
  newestText,
  plan,
  planCalls,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Find out what it is made of';
const desk: NamedTeam = {
  team_id: 'desk',
  description: 'For what has to be looked up.',
  instructions: 'Ask the researcher first.',
  members: members('researcher', 'writer'),
};
const done = completed('find-done');

const findsAlone = works('find', { json: done });

/** A first plan that breaks the rules, one that holds them, and what came of it. */
async function repaired(
  bad: readonly [string, TeamPlan, object?][],
  teams?: unknown,
): Promise<string> {
  stage.rehearsal.script([
    plans(1, plan(bad.map(([id, team, over]) => teamWork(id, team, over)))),
    plans(2, plan([work('find')])),
    findsAlone,
  ]);
  const run = await stage.start('plannerRun', { goal, ...(teams !== undefined && { teams }) });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [first, second, ...more] = planCalls(stage.rehearsal);
  expect(more).toEqual([]);
  // None of the bad plan was begun.
  expect(callsOf(stage.rehearsal, 'find')).toHaveLength(1);
  for (const [id] of bad) expect(callsOf(stage.rehearsal, id)).toEqual([]);
  expect(newestText(first).includes('<teams>')).toBe(teams !== false);
  await expectPromisesKept(stage, run.workflowId);
  return newestText(second);
}

it('fault 28: what is wrong with the teams of a plan goes back to the planner at once, and the mended plan runs', async () => {
  const told = await repaired(
    [
      ['unknown', { team_id: 'crowd' }],
      ['more', { team_id: 'desk', max_parallel: 2 }],
      ['led', { team_id: 'desk' }, { agent_id: 'writer' }],
      ['empty', { members: [] }],
      ['twice', { members: members('writer', 'writer', 'nobody'), max_delegations: 0 }],
    ],
    [desk],
  );
  for (const fault of [
    /delegations\[0\]\.team\.team_id.*there is no team \\"crowd\\".*Try: one of \\"desk\\"/u,
    /delegations\[1\]\.team.*brings all that it needs.*max_parallel/u,
    /delegations\[2\]\.agent_id.*led by another agent.*Try: \\"leader\\"/u,
    /delegations\[3\]\.team\.members.*has no members/u,
    /delegations\[4\]\.team\.members\[1\].*id of members\[0\] already/u,
    /delegations\[4\]\.team\.members\[2\].*there is no agent \\"nobody\\"/u,
    /delegations\[4\]\.team\.max_delegations.*whole number from 1/u,
  ]) {
    expect(told).toMatch(fault);
  }
});

it('fault 28: a delegation with a triad and a team goes back before the rules for either are checked', async () => {
  const told = await repaired(
    [
      ['plain', { team_id: 'desk' }],
      ['both', { members: members('writer') }, { triad: triad('dialectic') }],
    ],
    [desk],
  );
  expect(told).toMatch(/delegations\[1\]\.team.*a triad or by a team, not by both/u);
});

it('"teams": false tells the planner nothing of teams, and holds it to that', async () => {
  const told = await repaired([['find-too', { members: members('writer') }]], false);
  expect(told).toContain('this run does without teams');
});

it('fault 28: a team that a planner may name is checked at the start of the run, before any call', async () => {
  const run = await stage.start('plannerRun', { goal, teams: [{ ...desk, timeout: 0 }, desk] });
  expect(await refusedInput(run)).toEqual([
    expect.stringMatching(/^teams\[0\]\.timeout: expected a number from 1/u),
    expect.stringMatching(/^teams\[1\]\.team_id: "desk" is the name of another team already/u),
  ]);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('a named team is used from the planner to the result, and the delegations after it are given its answer', async () => {
  const found = { ...done, compact_md: 'It is copper.', detailed_md: '# It\n\nIt is copper.' };
  stage.rehearsal.script([
    plans(
      1,
      plan([
        teamWork('find', { team_id: 'desk' }),
        work('tell', { agent_id: 'writer', depends_on: ['find'] }),
      ]),
    ),
    ...leads([[gives('researcher'), gives('writer')], { output: found }], 'find'),
    does({ team: 'find', task: 'd1' }, { json: completed(taskCriterion) }),
    does({ team: 'find', task: 'd2' }, { json: completed(taskCriterion) }),
    works('tell', { json: completed('tell-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, teams: [desk] });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  const [asked] = planCalls(stage.rehearsal);
  for (const text of [desk.team_id, desk.description ?? ''])
    expect(newestText(asked)).toContain(text);
  const [leader] = stage.rehearsal.calls().filter(({ task }) => task?.leads === true);
  expect(JSON.stringify(leader?.body)).toContain('Ask the researcher first.');
  expect(taskCalls(stage.rehearsal, { team: 'find', task: 'd1' })).toHaveLength(1);
  expect(newestText(callsOf(stage.rehearsal, 'tell')[0])).toContain('It is copper.');
  expect(result.usage.calls).toBe(stage.rehearsal.calls().length);
  const told = readFileSync(join(stage.home, result.report_path), 'utf8');
  expect(told).toContain('## Teams');
  expect(told).toContain('### find: Task find');
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  ['[team]', {}],
  ['[team:desk]', { teams: [desk] }],
])(
  'a goal with %s on the rehearsal model ends completed, and its result names the team',
  async (mark, over) => {
    const run = await stage.start('plannerRun', { goal: `${goal} ${mark}`, ...over });
    const { question_id, choices } = await openQuestion(stage, run);
    await submit(run, { question_id, answer: choices[0] });
    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed' });
    const told = readFileSync(join(stage.home, result.report_path), 'utf8');
    const [, team = ''] = /^## Teams\n\n(.*)$/msu.exec(told) ?? [];
    expect(team).toMatch(/^### [\w-]+: /u);
    expect(team).toContain('- completed\n');
    expect(team).toContain('- Tasks: 2 completed');
    for (const member of ['leader', 'researcher', mark === '[team]' ? 'analyst' : 'writer']) {
      expect(team).toContain(member);
    }
    await expectPromisesKept(stage, run.workflowId);
  },
);
