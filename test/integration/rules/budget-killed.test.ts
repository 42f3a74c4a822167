import { openQuestion, submit } from '../../support/asking.ts';
import { untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** Until the worker is killed. */
const stalls = { stall: 'in-stream', afterEvents: 4, text: 'so far' } as const;

it('finding T2: calls of killed workers count: two deaths spend a budget of two calls', async () => {
  stage.rehearsal.script([{ reply: stalls }]);
  const task = { agent_id: 'researcher', task_description: 'Find out', budget: { calls: 2 } };
  const run = await stage.start('delegation', task, 'killed');
  for (const nth of [1, 2]) {
    // oxlint-disable-next-line no-await-in-loop
    const worker = await startWorkerProcess(stage);
    // oxlint-disable-next-line no-await-in-loop
    await untilCall(stage, 'killed', nth);
    worker.signal('SIGKILL');
    // oxlint-disable-next-line no-await-in-loop
    expect(await worker.ended).toBe('SIGKILL');
  }
  await startWorkerProcess(stage);
  const question = await openQuestion(stage, run);
  expect(question).toMatchObject({ kind: 'budget' });
  expect(question.text).toContain('2 of 2 calls');
  expect(stage.rehearsal.calls()).toHaveLength(2);
  await submit(run, { question_id: 'q1', answer: 'finish' });
  expect(await run.result()).toMatchObject({
    status: 'failed',
    usage: { calls: 0, unreported_calls: 2 },
  });
  await expectPromisesKept(stage, 'killed', { orphans: true, refusedTasks: true });
});
