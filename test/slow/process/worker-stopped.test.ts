import { eventually } from '../../support/eventually.ts';
import { callsOfRun, goal, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { held } from '../../support/scripted-work.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

const input = { goal, use_defaults: true, limits: { max_parallel: 1 } };

it('fault 4: SIGTERM in a call drains it, and the next worker buys nothing again', async () => {
  const call = held({ pass: true });
  stage.rehearsal.script([{ match: { nth: 4 }, reply: call.reply }]);
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', input);
  await untilCall(stage, run.workflowId, 4);
  first.signal('SIGTERM');
  // It takes no new work, and waits for the call that it has.
  await first.printed('Stopping');
  call.release();
  expect(await first.ended).toBe('exit code 0');
  expect((await run.describe()).status.name).toBe('RUNNING');
  const drained = callsOfRun(stage, run.workflowId);
  expect(drained.map(({ outcome }) => outcome)).toEqual(Array(4).fill('answered'));

  await stage.startWorker();
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  expect(callsOfRun(stage, run.workflowId)).toHaveLength(result.usage.calls);
  expect(callsOfRun(stage, run.workflowId).every(({ outcome }) => outcome === 'answered')).toBe(
    true,
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 4: SIGTERM in a call that outlasts the grace time ends it, and the next worker repeats it', async () => {
  stage.rehearsal.script([{ match: { nth: 4 }, reply: { pass: true, delayMs: 600_000 } }]);
  const first = await startWorkerProcess(stage, { PLANWAVE_WORKER_GRACE_SECONDS: '1' });
  const run = await stage.start('plannerRun', input);
  await untilCall(stage, run.workflowId, 4);
  first.signal('SIGTERM');
  // The call would last ten minutes: that the process ends at all is the grace time.
  expect(await first.ended).toBe('exit code 0');
  expect((await run.describe()).status.name).toBe('RUNNING');
  // The model hears of it in its own time.
  await eventually(
    'the end of the call',
    async () => callsOfRun(stage, run.workflowId)[3]?.outcome === 'client-closed',
  );

  await stage.startWorker();
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  const cut = callsOfRun(stage, run.workflowId).filter(({ outcome }) => outcome !== 'answered');
  expect(cut).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});
