import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  completed,
  decision,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

/** Starts a run that asks, and whose next worker has the home, but nothing in its store. */
async function startAndLose(): Promise<{
  readonly run: WorkflowHandle;
  readonly segments: string;
  readonly aside: string;
}> {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  // The next worker remembers nothing.
  await stage.stopWorker();
  const segments = join(stage.home, 'segments');
  const aside = join(stage.home, `aside-${run.workflowId}`);
  renameSync(segments, aside);
  mkdirSync(segments);
  await stage.startWorker();
  return { run, segments, aside };
}

/** Resolves with the reason when the run has parked. */
async function parkedReason(run: WorkflowHandle): Promise<string | null> {
  const status = await eventually('the parked run', async () => {
    const seen = await stage.status(run);
    return seen.phase === 'parked' && seen;
  });
  expect(status.waiting_for).toEqual([`parked: ${status.parked_reason}`]);
  return status.parked_reason;
}

/** Run and wave park each on its own: what the second one lacked is told after the resume of the first. */
async function resumeToEnd(run: WorkflowHandle, status: string): Promise<void> {
  await eventually('the resumed run', async () => {
    const { phase } = await stage.status(run);
    if (phase === 'parked') await run.signal('resume', {});
    return phase === status;
  });
  expect(await stage.result(run)).toMatchObject({ status });
}

it('finding L3: a run whose artifacts are gone parks with path, cause and fix, and goes on once they are back', async () => {
  const { run, segments, aside } = await startAndLose();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const parked_reason = await parkedReason(run);
  expect(parked_reason).toContain(segments);
  expect(parked_reason).toContain('another PLANWAVE_HOME');
  expect(parked_reason).toContain('then resume the run');
  expect((await stage.questions(run)).open).toEqual([]);

  cpSync(aside, segments, { recursive: true });
  await resumeToEnd(run, 'completed');
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});

it('a run that can not write its result parks, says why, and ends once the artifacts are back', async () => {
  const { run, segments, aside } = await startAndLose();
  await run.signal('stop', {});
  expect(await parkedReason(run)).toContain(segments);
  await eventually('the search attribute', async () => {
    const { searchAttributes } = await run.describe();
    return searchAttributes['PlanwavePhase']?.[0] === 'parked';
  });
  expect(await stage.status(run)).toMatchObject({ stop_reason: '' });
  cpSync(aside, segments, { recursive: true });
  const { out } = await runCommand(stage, ['resume', run.workflowId]);
  expect(out).toContain('resume was sent to ');
  expect(out).toContain('. The run ends with what there is. See: ');
  await resumeToEnd(run, 'stopped');
  expect(await stage.status(run)).not.toHaveProperty('stop_reason');
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});
