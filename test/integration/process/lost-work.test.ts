import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { assertCurrent } from '../../../activities/attempt/heartbeat.ts';
import { resetRun } from '../../support/histories.ts';
import { untilCall } from '../../support/process-stage.ts';
import { held } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({ opensWithWorker: false, shutdownGraceMs: 1 });

const task = { agent_id: 'researcher', task_description: 'Find out' };

/** A run and an attempt at its model call, which this test has as a worker that is suspended would. */
async function takeAttempt(runId: string) {
  await stage.startWorker();
  stage.rehearsal.script([{ match: {}, reply: held({ json: {} }).reply }]);
  const run = await stage.start('delegation', task, runId);
  await untilCall(stage, runId, 1);
  // Its attempt is made again, and given to whoever asks.
  await stage.stopWorker();
  const { connection } = stage.client;
  const poll = () =>
    connection.workflowService.pollActivityTaskQueue({
      namespace: 'default',
      taskQueue: { name: stage.taskQueue },
      identity: 'suspended',
    });
  const { taskToken } = await connection.withDeadline(Date.now() + 60_000, poll);
  const attempt = new MockActivityEnvironment(
    {
      taskToken: taskToken ?? new Uint8Array(),
      heartbeatTimeoutMs: 8_000,
      currentAttemptScheduledTimestampMs: 0,
    },
    { client: stage.client },
  );
  const ask = () => attempt.run(() => assertCurrent(Context.current(), () => false));
  await ask();
  return { run, ask };
}

it.each([
  ['was terminated', async (run: WorkflowHandle) => void (await run.terminate('a test'))],
  ['was reset', async (run: WorkflowHandle) => void (await resetRun(stage.client, run))],
  [
    'was terminated, and another one has its id',
    async (run: WorkflowHandle) => {
      await run.terminate('a test');
      await stage.start('delegation', task, run.workflowId);
    },
  ],
])(
  'an attempt hears from the server that it has lost its work when its run %s',
  async (how, lose) => {
    const { run, ask } = await takeAttempt(`lost-${how.length}`);
    await lose(run);
    await expect(ask()).rejects.toThrow('somebody else may have the work');
    // Nobody carries on what the reset and the new start have begun.
    const { workflow } = stage.client;
    if (how !== 'was terminated') await workflow.getHandle(run.workflowId).terminate('the end');
  },
);
