import type { RuleMatch } from '../../../rehearsal/script.ts';
import { eventually } from '../../support/eventually.ts';
import { runJudgedPlan } from '../../support/judged-plan.ts';
import { callsOfRun, inFlight, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** Until the kill cuts it off: no test waits that long. */
const hangs = { pass: true, delayMs: 600_000 } as const;

/** Returns what must be the same however the judgement reached its end. */
async function judgementOf(runId: string) {
  const run = await stage.result(stage.client.workflow.getHandle(runId));
  const outcome = (await storedRecord(stage.home, runId)).waves[0]?.outcomes[0];
  const { verification } = outcome ?? {};
  return {
    status: run.status,
    result: [verification?.status, verification?.verified_by, verification?.attempts],
    phases: verification?.judgement?.executor.work.phases?.map(({ phase, status }) => [
      phase,
      status,
    ]),
  };
}

it('part of fault 2: kill -9 inside a verifier’s call; the output is verified once, and its doer is not asked again', async () => {
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
});

it('part of fault 2: kill -9 in each phase of a triad’s judgement; it ends as without the kills, and its doer is not asked again', async () => {
  await stage.startWorker();
  const calm = await runJudgedPlan(stage, 'calm', 'List three ways.');
  const expected = await judgementOf(calm);
  expect(expected.phases).toHaveLength(3);
  await stage.stopWorker();

  const moments: readonly RuleMatch[] = [
    { phase: 'deliberate' },
    { phase: 'negotiate' },
    { schema: 'verification' },
  ];
  stage.rehearsal.script(
    moments.map((moment) => ({
      match: { ...moment, callKeyIncludes: 'struck/', nth: 1 },
      reply: hangs,
    })),
  );
  let worker = await startWorkerProcess(stage);
  const struck = await runJudgedPlan(stage, 'struck', 'List three ways.');
  for (const nth of moments.keys()) {
    await eventually(`the call of moment ${nth} in flight`, async () =>
      inFlight(callsOfRun(stage, struck)).some(({ rule }) => rule === nth),
    );
    worker.signal('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
    worker = await startWorkerProcess(stage);
  }
  expect(await judgementOf(struck)).toEqual(expected);

  const [calmly, calls] = [callsOfRun(stage, calm), callsOfRun(stage, struck)];
  const cut = calls.filter(({ outcome }) => outcome === 'client-closed');
  expect(cut.length).toBeGreaterThanOrEqual(moments.length);
  expect(calls.filter(({ turn, shape }) => turn === null && shape === 'delegation')).toHaveLength(
    1,
  );
  expect(calls.length).toBeGreaterThanOrEqual(calmly.length + moments.length);
  // Three members think side by side, so a kill cuts off three calls at most.
  expect(calls.length).toBeLessThanOrEqual(calmly.length + 3 * moments.length);
  await expectPromisesKept(stage, struck, { orphans: true });
});
