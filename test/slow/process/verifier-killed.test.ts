import { callsOfRun, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

it('part of fault 2: kill -9 inside a verifier’s call; the output is verified once, and its doer is not asked again', async () => {
  const hangs = { pass: true, delayMs: 600_000 } as const;
  stage.rehearsal.script([{ match: { schema: 'verification', nth: 1 }, reply: hangs }]);
  const task = { agent_id: 'writer', task_description: 'Write a line.', verify: true };
  const run = await stage.start('delegation', task, 'verified-later');
  const worker = await startWorkerProcess(stage);
  const hanging = await untilCall(stage, 'verified-later', 2);
  expect(hanging.shape).toBe('verification');
  worker.signal('SIGKILL');
  expect(await worker.ended).toBe('SIGKILL');
  await stage.startWorker();
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 1 },
  });
  const calls = callsOfRun(stage, 'verified-later');
  expect(calls.map(({ shape, outcome }) => [shape, outcome])).toEqual([
    ['delegation', 'answered'],
    ['verification', 'client-closed'],
    ['verification', 'answered'],
  ]);
  await expectPromisesKept(stage, 'verified-later', { orphans: true });
}, 180_000);
