import type { WorkflowHandle } from '@temporalio/client';
import { countHeartbeatTimeouts, untilGivenUp } from '../../support/heartbeat-timeouts.ts';
import { callsOfRun, goal, outcomeOf, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, held } from '../../support/scripted-work.ts';
import { runAt } from '../../support/run-at.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { findTraces } from '../../support/traces.ts';
import { untilOnlyCalls } from '../../support/until-idle.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

// A task that goes to a poll of the suspended worker waits for its time-out; polls live for a minute by default.
const { stage } = useProcessStages({
  serverArguments: ['--dynamic-config-value', 'matching.longPollExpirationInterval="2s"'],
});

const input = { goal, use_defaults: true, limits: { max_parallel: 1 } };

/** Result and model calls of a run without a suspension, once one was played. */
let calm: Awaited<ReturnType<typeof runUndisturbed>> | undefined;

/** Plays the run without a suspension. Returns its result and its model calls. */
async function runUndisturbed() {
  await stage.startWorker();
  const run = await stage.start('plannerRun', input);
  const outcome = await outcomeOf(stage, run);
  await stage.stopWorker();
  return { outcome, n: callsOfRun(stage, run.workflowId).length };
}

/** A worker process that is suspended while the model works on the second call of the run. */
async function suspendInCall(runId: string, lateWords: string) {
  const late = held({ json: { ...completed('goal-1'), compact_md: lateWords } });
  stage.rehearsal.script([{ match: { callKeyIncludes: `${runId}/`, nth: 2 }, reply: late.reply }]);
  const worker = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', input, runId);
  const call = await untilCall(stage, runId, 2);
  // A suspension in a workflow task can end the process, see decision 18.
  await untilOnlyCalls(stage, runId);
  worker.signal('SIGSTOP');
  return { worker, run, call, release: late.release };
}

async function expectTimedOut(run: WorkflowHandle): Promise<void> {
  const histories = await expectPromisesKept(stage, run.workflowId, {
    orphans: true,
    refusedTasks: true,
  });
  // The fault fired. A starved machine may add one of its own.
  expect(countHeartbeatTimeouts(histories)).toBeGreaterThanOrEqual(1);
}

it('fault 5: SIGSTOP until another worker has done the call: what comes after CONT is ignored', async () => {
  calm ??= await runUndisturbed();
  const { n, outcome } = calm;
  const { worker, run, call, release } = await suspendInCall(
    'suspended-1',
    'Words that came too late',
  );
  await untilGivenUp(stage, call);
  await stage.startWorker();
  expect(await outcomeOf(stage, run)).toEqual(outcome);
  expect(callsOfRun(stage, run.workflowId)).toHaveLength(n + 1);
  const recordBefore = await storedRecord(stage.home, run.workflowId);
  await stage.stopWorker();

  // The reply waits in the socket of the suspended worker, and is read now.
  release();
  worker.signal('SIGCONT');
  const later = await stage.start('plannerRun', input);
  expect(await worker.outlives('the run', outcomeOf(stage, later))).toEqual(outcome);
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');

  expect(await storedRecord(stage.home, run.workflowId)).toEqual(recordBefore);
  expect(callsOfRun(stage, run.workflowId)).toHaveLength(n + 1);
  const histories = await expectPromisesKept(stage, run.workflowId, { orphans: true });
  // Of the late words nothing is named: one artifact for the turn.
  const named = findTraces(stage.home, histories, 'Words that came too late');
  expect(named.filter((place) => !/^(?:objects|ledger|segments)\//.test(place))).toEqual([]);
  await expectTimedOut(run);
});

it('fault 5: SIGSTOP of the only worker, longer than its heartbeats may stop: it goes on after CONT', async () => {
  calm ??= await runUndisturbed();
  const { n, outcome } = calm;
  const { worker, run, call, release } = await suspendInCall('suspended-2', 'Words in a socket');
  const shown = await runAt(stage.address, ['status', run.workflowId]);
  expect(shown.out).toContain('No worker answered. One asked for work in the last 90 seconds');
  await untilGivenUp(stage, call);
  release();
  worker.signal('SIGCONT');
  const { status, waves } = await worker.outlives('the run', stage.result(run));
  expect({ status, waves }).toEqual({ status: outcome.status, waves: outcome.waves });
  const calls = callsOfRun(stage, run.workflowId).length;
  expect(calls).toBeGreaterThanOrEqual(n);
  expect(calls).toBeLessThanOrEqual(n + 1);
  await expectTimedOut(run);
});
