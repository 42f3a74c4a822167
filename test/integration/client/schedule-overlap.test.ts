import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { createPlanwaveClient, type PlanwaveClient } from '../../../client/planwave-client.ts';
import type { Overlap } from '../../../client/schedules.ts';
import { openQuestions, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { blocked, completed, plan, question, work } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Each run asks one question, and ends when it is answered. */
function scriptAsking(): void {
  stage.rehearsal.script([
    { match: { schema: 'plan' }, reply: { json: plan([work('host')]) } },
    {
      match: { schema: 'delegation' },
      reply: ({ body }) => ({
        json: JSON.stringify(body).includes('eu-west')
          ? completed('host-done')
          : blocked([question('Which region?')], 'host-done'),
      }),
    },
  ]);
}

/** Lists runs of a schedule by the time of their start: `RUNNING`, `COMPLETED`, … */
async function runsOf(
  id: string,
): Promise<readonly { readonly id: string; readonly status: string }[]> {
  const found: { id: string; status: string; at: number }[] = [];
  const query = `WorkflowType = 'plannerRun' AND TaskQueue = '${stage.taskQueue}'`;
  for await (const { workflowId, status, startTime } of stage.client.workflow.list({ query })) {
    if (workflowId.startsWith(`${id}-`))
      found.push({ id: workflowId, status: status.name, at: startTime.getTime() });
  }
  return found.toSorted((a, b) => a.at - b.at);
}

const statuses = async (id: string): Promise<string> =>
  (await runsOf(id)).map(({ status }) => status).join();

const handleOf = (workflowId = '') => stage.client.workflow.getHandle(workflowId);

async function answer(workflowId = ''): Promise<void> {
  const run = handleOf(workflowId);
  await openQuestions(stage, run);
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await run.result()).toMatchObject({ status: 'completed' });
}

/** The server's own counts: starts that wait, and those that were left out. */
async function countsOf(scheduleId: string): Promise<{ waiting: number; leftOut: number }> {
  const { info } = await stage.client.workflowService.describeSchedule({
    namespace: 'default',
    scheduleId,
  });
  return { waiting: Number(info?.bufferSize ?? 0), leftOut: Number(info?.overlapSkipped ?? 0) };
}

/** Starts a run as the clock would: with the schedule's own policy, which the SDK's `trigger` replaces. */
const startNow = (scheduleId: string) =>
  stage.client.workflowService.patchSchedule({
    namespace: 'default',
    scheduleId,
    patch: { triggerImmediately: {} },
  });

const runs = (id: string, count: number) =>
  eventually(`${count} runs`, async () => {
    const found = await runsOf(id);
    return found.length >= count && found;
  });

/** The server lists a run that has just ended as one at work. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/** Runs a test with a schedule that starts a run every second, or as often as is said. */
async function withSchedule(
  overlap: Overlap,
  test: (id: string, client: PlanwaveClient) => Promise<void>,
  everySeconds = 1,
): Promise<void> {
  const id = `often-${randomUUID().slice(0, 8)}`;
  const { connection } = stage.client;
  const { address, taskQueue } = stage;
  const client = createPlanwaveClient({ connection, address, namespace: 'default', taskQueue });
  scriptAsking();
  const when = { every_seconds: everySeconds };
  await client.schedules.create({ schedule_id: id, input: { goal: 'Host it' }, when, overlap });
  try {
    await test(id, client);
  } finally {
    await client.schedules.delete(id);
    const open = (await runsOf(id)).filter(({ status }) => status === 'RUNNING');
    await Promise.all(open.map((run) => handleOf(run.id).terminate().catch(ignoreEnded)));
  }
}

it('skip: while a run waits for its user, starts are left out; then the next one starts', async () => {
  await withSchedule('skip', async (id) => {
    await eventually('starts left out', async () => (await countsOf(id)).leftOut >= 2);
    const [first] = await runs(id, 1);
    expect(await statuses(id)).toBe('RUNNING');
    expect(await countsOf(id)).toMatchObject({ waiting: 0 });
    await answer(first?.id);
    await runs(id, 2);
  });
});

it('buffer-one: one start waits for the end of the run, further ones are left out', async () => {
  await withSchedule('buffer-one', async (id) => {
    await eventually('starts left out', async () => (await countsOf(id)).leftOut >= 2);
    expect(await countsOf(id)).toMatchObject({ waiting: 1 });
    const [first] = await runs(id, 1);
    const waitedSince = Date.now();
    await answer(first?.id);
    const [, second] = await runs(id, 2);
    // Its time is the one that waited, not a later one.
    expect(Date.parse(second?.id.slice(id.length + 1) ?? '')).toBeLessThan(waitedSince);
  });
});

it('buffer-all: every start waits for its turn, and a pause leaves out those that wait', async () => {
  await withSchedule('buffer-all', async (id, client) => {
    await eventually('starts that wait', async () => (await countsOf(id)).waiting >= 3);
    expect(await countsOf(id)).toMatchObject({ leftOut: 0 });
    await answer((await runs(id, 1))[0]?.id);
    await answer((await runs(id, 2))[1]?.id);
    const found = await runs(id, 3);
    // The server's list follows a run's end a moment later.
    await eventually(
      'two ended runs before the third',
      async () => (await statuses(id)) === 'COMPLETED,COMPLETED,RUNNING',
    );
    await client.schedules.pause(id);
    await answer(found[2]?.id);
    await eventually('no start that waits', async () => (await countsOf(id)).waiting === 0);
    expect(await runsOf(id)).toHaveLength(3);
  });
});

it('allow-all: every run starts at its time', async () => {
  await withSchedule('allow-all', async (id, client) => {
    await runs(id, 3);
    await client.schedules.pause(id);
    expect(await countsOf(id)).toEqual({ waiting: 0, leftOut: 0 });
    expect(await statuses(id)).toMatch(/^RUNNING,RUNNING,RUNNING/);
  });
});

it('cancel-other: the run before ends with its result so far, and the next one starts', async () => {
  // Started by hand: a third start by the clock would end the second run too.
  const hour = 3600;
  await withSchedule(
    'cancel-other',
    async (id) => {
      await startNow(id);
      const [first] = await runs(id, 1);
      await openQuestions(stage, handleOf(first?.id));
      // The server names a run by the second of its start.
      const named = Date.parse(first?.id.slice(id.length + 1) ?? '');
      await eventually('the next second', async () => Date.now() >= named + 1000);
      await startNow(id);
      expect(await handleOf(first?.id).result()).toMatchObject({ status: 'stopped' });
      const [, second] = await runs(id, 2);
      await answer(second?.id);
    },
    hour,
  );
});
