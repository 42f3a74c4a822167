import { join } from 'node:path';
import { eventTypes } from '../../support/histories.ts';
import { askForChange, stagesOf, untilAsked, untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { blocked, question } from '../../support/scripted-work.ts';
import { readSeedFiles, readSharedStatus } from '../../support/seed-files.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

/** A worker that forgets each workflow after each of its tasks: as if it died between all of them. */
const { stage } = useStage({ maxCachedWorkflows: 0 });

const goal = 'Compare three ways to store a backup';
const currency = 'In which currency are the costs?';

it('one run with all of seed 003, by a worker that forgets everything after each workflow task', async () => {
  stage.rehearsal.script([
    {
      match: { schema: 'delegation', bodyIncludes: 'Compare the options for' },
      times: 1,
      reply: { json: blocked([question(currency)], 'compare-options') },
    },
  ]);
  const input = { goal: `${goal} [new-agent] [failed-proof] [failing]`, mode: 'designed' };
  const run = await stage.start('plannerRun', input);
  const folder = join(stage.home, run.workflowId);

  // Interview, design, risks and verification; then the user changes the plan and sees it again.
  const first = await untilAsked(stage, run, 'plan_approval');
  await eventually('the status', async () => readSharedStatus(folder)?.status === 'blocked');
  await untilIdle(stage, run.workflowId);
  expect(readSeedFiles(folder)).toMatchObject({
    faults: [],
    files: expect.arrayContaining([
      'agents/facts_agent/agent_instructions.md',
      expect.stringMatching(/^conversation_summary_/),
      'shared_status.json',
      'workflow_coordination_plan.md',
    ]),
  });
  await askForChange(stage, run, first, 'Name the costs');
  const { question_id, text } = await untilAsked(stage, run, 'plan_approval');
  expect(text).toContain('Changed since you saw it');
  await run.signal('answer', { question_id, answer: 'approve' });

  // The work: a proof of concept that fails, an escalation, verifications that fail once.
  const asked = await untilAsked(stage, run, 'blocking');
  expect(asked.text).toContain(currency);
  await untilIdle(stage, run.workflowId);
  expect(readSeedFiles(folder).faults).toEqual([]);
  await run.signal('answer', { question_id: asked.question_id, answer: 'Euro' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });

  const { files, faults } = readSeedFiles(folder);
  expect(faults).toEqual([]);
  expect(files.filter((path) => path.includes('session_current'))).toEqual([]);
  expect(files.filter((path) => path.includes('verification_results'))).toEqual([]);
  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.design?.adaptations).toMatchObject([
    { cause: { type: 'proof_of_concept', assessment: 'fail', decision: 'adapt' } },
  ]);
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const verified = outcomes.flatMap(({ verification }) => verification ?? []);
  expect(verified).toContainEqual(expect.objectContaining({ status: 'verified', attempts: 2 }));
  expect(outcomes.map(({ agent_id }) => agent_id)).toContain('rehearsed-specialist');
  const stages = stagesOf(stage.rehearsal.calls());
  for (const name of [
    'interview',
    'design_change',
    'design_review',
    'poc_decision',
    'adaptation',
  ]) {
    expect(stages.some((one) => one.startsWith(name))).toBe(true);
  }
  const histories = await expectPromisesKept(stage, run.workflowId);
  const tasks = histories
    .flatMap(eventTypes)
    .filter((type) => type === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  // Each of them began with a replay from the first event.
  expect(tasks.length).toBeGreaterThan(100);
  expect(stage.cachedWorkflows()).toBe(0);

  // The same goal without a design, beside it.
  stage.rehearsal.reset();
  const direct = await stage.start('plannerRun', { goal });
  await untilEnded(stage, direct);
  const { out } = await runCommand(stage, ['compare', run.workflowId, direct.workflowId]);
  expect(out).toMatch(/^mode +designed +direct$/m);
  const calls = /^calls +(\d+) +(\d+)$/m.exec(out)?.slice(1).map(Number) ?? [];
  expect(calls).toEqual([
    record.usage.calls,
    (await storedRecord(stage.home, direct.workflowId)).usage.calls,
  ]);
  expect(out).toMatch(/^tokens +\S+ tokens in, \S+ out +\S+ tokens in, \S+ out$/m);
  expect(out).toMatch(/^cost +\$[\d.]+ +\$[\d.]+$/m);
  expect(out).toMatch(/^criteria met +\d+ of \d+, \d+ verified +\d+ of \d+, 0 verified$/m);
}, 1_800_000);
