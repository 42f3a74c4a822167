import type { WorkflowHandle } from '@temporalio/client';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGitFixture } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  heardResults,
  leaderCalls,
  leads,
  members,
  taskCriterion,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed, decision, plan, plans, unmet } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const before = 'export const rate = 1;\n';
const edits = (from: string, to: string) => ({
  tool_use: [
    {
      name: 'edit_file',
      input: { path: 'rate.js', old_string: `rate = ${from}`, new_string: `rate = ${to}` },
    },
  ],
});
const done = { json: completed(taskCriterion) };

/** Carries out the script in a folder, whose changes are applied. */
async function completeIn(dir: string, more: object = {}): Promise<WorkflowHandle> {
  const input = { goal: 'Set the rate', workspace_dir: dir, changes: 'apply', ...more };
  const run = await stage.start('plannerRun', input);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  return run;
}

it('two members of a team that change the same line are a conflict that the leader hears of by the file, and has done again', async () => {
  const { dir } = createGitFixture({ 'rate.js': before });
  const team = {
    members: members('engineer', { id: 'other', agent_id: 'engineer' }),
    allow_parallel: true,
  };
  stage.rehearsal.script([
    plans(1, plan([teamWork('pair', team)])),
    ...leads(
      [
        [gives('engineer', 'Set it to 2.'), gives('other', 'Set it to 3.')],
        [gives('other', 'Set it to 3 on top of that.', { inputs: ['d1'] })],
        { output: completed('pair-done') },
      ],
      'pair',
    ),
    does({ team: 'pair', task: 'd1', nth: 1 }, edits('1', '2')),
    does({ team: 'pair', task: 'd1' }, done),
    does({ team: 'pair', task: 'd2', nth: 1 }, edits('1', '3')),
    does({ team: 'pair', task: 'd2' }, done),
    does({ team: 'pair', task: 'd3', nth: 1 }, edits('2', '23')),
    does({ team: 'pair', task: 'd3' }, done),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await completeIn(dir);
  const [, second, third] = leaderCalls(stage.rehearsal, 'pair').map((call) => heardResults(call));
  const told = expect.stringMatching(
    /"d2" are left out, because "d1" changed the same lines of "rate\.js"/,
  );
  expect(second).toMatchObject([
    { is_error: false, text: told },
    { is_error: false, text: told },
  ]);
  // It builds on the first one, so there is nothing new to say.
  expect(third?.at(-1)).toMatchObject({
    is_error: false,
    text: expect.not.stringContaining('left out'),
  });
  expect(readFileSync(join(dir, 'rate.js'), 'utf8')).toBe('export const rate = 23;\n');
  // The planner consolidates what the leader made of it, so it hears of it too, and the report keeps it.
  const [decided] = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  const asked = JSON.stringify(decided?.body);
  expect(asked).toMatch(/<left_changes>.*pair\.d2.*rate\.js.*worktrees\/pair\.d2/);
  const report = readFileSync(join(stage.home, run.workflowId, 'report.md'), 'utf8');
  expect(report).toMatch(/`pair\.d2` of wave 1, in "rate\.js": "pair\.d1" changed the same lines/);
  await expectPromisesKept(stage, run.workflowId);
});

it('a task that failed half done counts no more: the one that did the work anew contradicts nothing', async () => {
  const { dir } = createGitFixture({ 'rate.js': before });
  stage.rehearsal.script([
    plans(1, plan([teamWork('pair', { members: members('engineer') })])),
    ...leads(
      [
        [gives('engineer', 'Set it to 2.')],
        [gives('engineer', 'Set it to 2, and this time with care.')],
        { output: completed('pair-done') },
      ],
      'pair',
    ),
    does({ team: 'pair', task: 'd1', nth: 1 }, edits('1', '999')),
    does({ team: 'pair', task: 'd1' }, { json: unmet('failed', 'Half done.', taskCriterion) }),
    does({ team: 'pair', task: 'd2', nth: 1 }, edits('1', '2')),
    does({ team: 'pair', task: 'd2' }, done),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await completeIn(dir);
  const [, second, third] = leaderCalls(stage.rehearsal, 'pair').map((call) => heardResults(call));
  expect(second).toMatchObject([{ text: expect.stringContaining('Half done.') }]);
  expect(third).toMatchObject([{ text: expect.not.stringContaining('left out') }]);
  expect(readFileSync(join(dir, 'rate.js'), 'utf8')).toBe('export const rate = 2;\n');
  await expectPromisesKept(stage, run.workflowId);
});

it('what a task that failed has changed is not in the copy of the next one of its reply', async () => {
  const { dir } = createGitFixture({ 'rate.js': before });
  const writes = { name: 'write_file', input: { path: 'other.js', content: 'export {};\n' } };
  stage.rehearsal.script([
    plans(1, plan([teamWork('pair', { members: members('engineer') })])),
    ...leads(
      [
        [gives('engineer', 'Set it to 2.'), gives('engineer', 'Write the other file.')],
        { output: completed('pair-done') },
      ],
      'pair',
    ),
    does({ team: 'pair', task: 'd1', nth: 1 }, edits('1', '999')),
    does({ team: 'pair', task: 'd1' }, { json: unmet('failed', 'Half done.', taskCriterion) }),
    does({ team: 'pair', task: 'd2', nth: 1 }, { tool_use: [writes] }),
    does({ team: 'pair', task: 'd2' }, done),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await completeIn(dir);
  expect(readFileSync(join(dir, 'other.js'), 'utf8')).toBe('export {};\n');
  expect(readFileSync(join(dir, 'rate.js'), 'utf8')).toBe(before);
  await expectPromisesKept(stage, run.workflowId);
});

it('a verifier sees what the team has changed, and its leader mends that alone', async () => {
  const { dir } = createGitFixture({ 'rate.js': before });
  const team = teamWork('pair', { members: members('engineer') }, { agent_id: 'engineer' });
  const alone = { delegation: 'pair', schema: 'delegation', leads: false } as const;
  const json = { verdict: 'fail', missing_evidence: ['It must be 23.'], reviewed_notes: [] };
  stage.rehearsal.script([
    plans(1, plan([team])),
    ...leads([[gives('engineer', 'Set it to 2.')], { output: completed('pair-done') }], 'pair'),
    does({ team: 'pair', task: 'd1', nth: 1 }, edits('1', '2')),
    does({ team: 'pair', task: 'd1' }, done),
    { match: { schema: 'verification', nth: 1 }, reply: { json } },
    {
      match: { schema: 'verification' },
      reply: { json: { ...json, verdict: 'pass', missing_evidence: [] } },
    },
    { match: { ...alone, nth: 1 }, reply: edits('2', '23') },
    { match: alone, reply: { json: completed('pair-done') } },
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await completeIn(dir, { verify: true });
  const [verdict] = stage.rehearsal.calls().filter(({ shape }) => shape === 'verification');
  expect(JSON.stringify(verdict?.body)).toContain('+export const rate = 2;');
  expect(readFileSync(join(dir, 'rate.js'), 'utf8')).toBe('export const rate = 23;\n');
  await expectPromisesKept(stage, run.workflowId);
});
