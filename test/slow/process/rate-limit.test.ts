import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useProcessStages, useStage } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

const rate = 8;
const waitMs = 4_000;
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };
const queue = (): string => `${stage.taskQueue}-of-models`;

/** The limit that the server applies to model calls. */
async function serverRate(): Promise<number | null | undefined> {
  const { effectiveRateLimit } = await stage.client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: queue() },
    taskQueueType: 2,
    reportConfig: true,
  });
  return effectiveRateLimit?.requestsPerSecond;
}

it('PM1, PQ3: two workers with slots by memory share one queue of model calls with its rate, and a 429 of one slows both', async () => {
  const env = {
    PLANWAVE_MODEL_RATE: String(rate),
    PLANWAVE_MODEL_QUEUE: queue(),
    PLANWAVE_WORKER_MEMORY: '99',
  };
  await Promise.all([startWorkerProcess(stage, env), startWorkerProcess(stage, env)]);
  const retry = { 'retry-after': String(waitMs / 1_000) };
  stage.rehearsal.script([{ times: 1, reply: { status: 429, headers: retry } }]);
  const first = await stage.start('delegation', task);
  await eventually(
    'the shared time',
    async () => (await readdir(join(stage.home, 'shared')).catch(() => [])).length === 1,
  );
  const [refused] = stage.rehearsal.calls();
  const others = await Promise.all(
    Array.from({ length: 12 }, () => stage.start('delegation', task)),
  );
  const runs = [first, ...others];
  for (const run of runs) expect(await run.result()).toMatchObject({ status: 'completed' });

  const [, ...later] = stage.rehearsal.calls();
  expect(refused).toMatchObject({ replyStatus: 429 });
  expect(later.length).toBe(runs.length);
  // Nobody asked before the time, whichever worker got the call.
  const begun = Math.min(...later.map(({ startedAtMs }) => startedAtMs));
  expect(begun).toBeGreaterThanOrEqual((refused?.endedAtMs ?? Infinity) + waitMs);
  const workers = new Set<string>();
  for (const run of runs) {
    const events = (await fetchHistories(stage.client, run.workflowId)).flatMap(
      ({ history }) => history.events ?? [],
    );
    const asked = events.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'modelTurn',
    );
    for (const event of asked) {
      expect(event.activityTaskScheduledEventAttributes?.taskQueue?.name).toBe(queue());
      const started = events.find(
        ({ activityTaskStartedEventAttributes: attributes }) =>
          String(attributes?.scheduledEventId) === String(event.eventId),
      );
      workers.add(started?.activityTaskStartedEventAttributes?.identity ?? '');
    }
  }
  expect(workers.size).toBe(2);
  expect(await serverRate()).toBe(rate);
  await expectPromisesKept(stage, first.workflowId);
});

describe('a worker whose memory is full', () => {
  // More of any machine's memory is used.
  const { stage: full } = useStage({ memoryTarget: 0.001 });

  it('has ten calls under way, and no more', async () => {
    full.rehearsal.script([{ reply: { pass: true, delayMs: 600_000 } }]);
    await Promise.all(Array.from({ length: 13 }, () => full.start('delegation', task)));
    await eventually('ten calls', async () => full.rehearsal.counts().inFlight === 10, 60_000);
    // Long enough for one more, if it could begin.
    await sleep(3_000);
    expect(full.rehearsal.counts()).toMatchObject({ calls: 10, inFlight: 10 });
  });
});
