import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyOf } from '../../support/calls.ts';
import { stagesOf, untilAsked, untilEnded } from '../../support/design-play.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { plansOneTask } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

it('carries the first plan out if it is small, and shows the numbers', async () => {
  stage.rehearsal.script([plansOneTask]);
  const run = await stage.start('plannerRun', { goal, mode: 'auto' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const calls = stage.rehearsal.calls();
  expect(stagesOf(calls)).toEqual([]);
  expect(calls.filter(({ shape }) => shape === 'plan')).toHaveLength(1);
  const said = 'direct mode: 1 agent (directly: at most 2), 0 dependencies (directly: at most 0)';
  const { out } = await runCommand(stage, ['status', run.workflowId]);
  expect(out).toContain(`chosen: ${said}`);
  const report = readFileSync(join(stage.home, run.workflowId, 'report.md'), 'utf8');
  expect(report).toContain(`**Chosen:** ${said}`);
  await expectPromisesKept(stage, run.workflowId);
});

it('designs the work if the first plan has dependencies, and gives the plan to the designers', async () => {
  const run = await stage.start('plannerRun', { goal, mode: 'auto' });
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  const { out } = await runCommand(stage, ['status', run.workflowId]);
  expect(out).toMatch(/design: \d+ stages done, the last one design review/);
  expect(out).toContain('chosen: designed mode: ');
  expect(out).not.toContain('0 calls');
  const before = stage.rehearsal.calls();
  expect(before.filter(({ shape }) => shape === 'plan')).toHaveLength(1);
  expect(before.filter(({ task }) => task !== null)).toEqual([]);
  const roster = before.find((call) => stagesOf([call]).includes('roster'));
  expect(JSON.stringify(bodyOf(roster))).toContain('first_plan');
  await run.signal('answer', { question_id, answer: 'approve' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const plans = stage.rehearsal.calls().filter(({ shape }) => shape === 'plan');
  expect(plans).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});
