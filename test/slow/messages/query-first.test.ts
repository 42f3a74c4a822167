import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { takenAhead } from '../../../workflows/shared/task-order.ts';
import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories, historyJson } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { blocked, completed, plan, question, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const runs = ['north', 'south', 'east', 'west'];

/** Most attempts: whether the query or the workflow task reaches the new worker first, is up to the server. */
const roundsMax = 8;

/** Number of signals to a run in one round: it takes 200 pauses in all. */
const signalsMax = 48;

it('a query that waited for a worker comes before the messages that waited too', async () => {
  stage.rehearsal.script(
    runs.flatMap((name) => [
      { match: { schema: 'plan' }, times: 1, reply: { json: plan([work(name)]) } },
      works(name, { json: blocked([question('Which region?')], `${name}-done`) }, 1),
      works(name, { json: completed(`${name}-done`) }),
    ]),
  );
  const handles: WorkflowHandle[] = [];
  for (const name of runs) {
    const run = await stage.start('plannerRun', { goal: 'Host the backup' }, name);
    await openQuestion(stage, run);
    handles.push(run);
  }
  let refused = 0;
  for (let round = 1; refused === 0 && round <= roundsMax; round += 1) {
    await askWhileAway(handles);
    refused = await countRefused(runs);
  }
  expect(refused).toBeGreaterThan(0);
  for (const run of handles) {
    await run.signal('resume', {});
    await run.signal('answer', { question_id: 'q1', answer: 'Frankfurt' });
    expect((await stage.result(run)).status).toBe('completed');
    await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
  }
});

it('WT2: a query that shows a task which a dead worker had begun comes before that task is done again', async () => {
  stage.rehearsal.script([
    { match: { schema: 'plan' }, times: 1, reply: { json: plan([work('harbour')]) } },
    works('harbour', { json: blocked([question('Which region?')], 'harbour-done') }, 1),
    works('harbour', { json: completed('harbour-done') }),
  ]);
  const run: WorkflowHandle = await stage.client.workflow.start('plannerRun', {
    taskQueue: stage.taskQueue,
    workflowId: 'harbour',
    args: [{ goal: 'Host the backup' }],
    // So long that the next worker is there before the lost task is given to it.
    workflowTaskTimeout: '30 s',
  });
  await openQuestion(stage, run);
  let refused = 0;
  for (let round = 1; refused === 0 && round <= roundsMax; round += 1) {
    await askWhileLost(run);
    refused = await countRefused(['harbour']);
  }
  expect(refused).toBeGreaterThan(0);
  await run.signal('answer', { question_id: 'q1', answer: 'Frankfurt' });
  expect((await stage.result(run)).status).toBe('completed');
  await expectPromisesKept(stage, 'harbour', { refusedTasks: true });
});

/** Number of queries at a time: each poll of the dying worker may take one of them instead of the task. */
const queriesAtOnce = 6;

/** Asks the run for its status while no worker is there, lets a worker die that has begun its task, and starts another. */
async function askWhileLost(run: WorkflowHandle): Promise<void> {
  await stage.stopWorker();
  const asked = Array.from({ length: queriesAtOnce }, () => stage.status(run));
  // Once messages wait, the server would give the queries to their workflow task.
  await sleep(1_500);
  await run.signal('pause', {});
  const isLost = await beginTask();
  await run.signal('resume', {});
  await stage.startWorker();
  await Promise.all(asked);
  // The server gives the lost task to another worker when its time is over.
  if (isLost) await eventually('the next task', () => isSettled(run));
}

/** Takes work as a worker that dies then. @returns false when it got nothing but queries. */
async function beginTask(): Promise<boolean> {
  const { connection, options } = stage.client;
  const poll = { namespace: options.namespace, taskQueue: { name: stage.taskQueue } };
  for (let polls = 1; polls < queriesAtOnce; polls += 1) {
    // One after the other, so that a query is left for the next worker.
    // oxlint-disable-next-line no-await-in-loop
    const { taskToken, query } = await connection.withDeadline(Date.now() + 20_000, () =>
      connection.workflowService.pollWorkflowTaskQueue({ ...poll, identity: 'a dying worker' }),
    );
    if (taskToken.length > 0 && !query) return true;
  }
  return false;
}

async function isSettled(run: WorkflowHandle): Promise<boolean> {
  const { raw } = await run.describe();
  return !raw.pendingWorkflowTask && (await stage.status(run)).phase !== 'paused';
}

/** Asks each run for its status while no worker is there, then sends it messages until a new worker has answered. */
async function askWhileAway(handles: readonly WorkflowHandle[]): Promise<void> {
  await stage.stopWorker();
  const unanswered = new Set(handles);
  const asking = handles.map(async (run) => {
    await stage.status(run);
    unanswered.delete(run);
  });
  // Once messages wait, the server would give the query to their workflow task.
  await sleep(1_500);
  const sending = handles.map(async (run) => {
    for (let sent = 0; sent < signalsMax && unanswered.size > 0; sent += 1) {
      // Each of the two changes what the run shows, so the number of tasks is to be seen in its history.
      await run.signal(sent % 2 === 0 ? 'pause' : 'resume', {});
      await sleep(20);
    }
  });
  await sleep(500);
  await stage.startWorker();
  await Promise.all([...asking, ...sending]);
}

/** Counts the runs of which a workflow task was refused. */
async function countRefused(names: readonly string[]): Promise<number> {
  const histories = await Promise.all(names.map((name) => fetchHistories(stage.client, name)));
  return histories.filter((stored) =>
    stored.some(({ history }) => JSON.stringify(historyJson(history)).includes(takenAhead)),
  ).length;
}
