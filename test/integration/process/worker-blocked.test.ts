import { fileURLToPath } from 'node:url';
import { countHeartbeatTimeouts, untilGivenUp } from '../../support/heartbeat-timeouts.ts';
import { callsOfRun, goal, outcomeOf, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { held } from '../../support/scripted-work.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

const input = { goal, use_defaults: true, limits: { max_parallel: 1 } };
const blocker = fileURLToPath(new URL('../../support/block-event-loop.mjs', import.meta.url));

it('fault 6: a blocked event loop in a call: heartbeat timeout, next attempt, nothing applied twice', async () => {
  await stage.startWorker();
  const undisturbed = await stage.start('plannerRun', input);
  const outcome = await outcomeOf(stage, undisturbed);
  const n = callsOfRun(stage, undisturbed.workflowId).length;
  await stage.stopWorker();

  const call = held({ pass: true });
  stage.rehearsal.script([{ match: { callKeyIncludes: 'blocked/', nth: 4 }, reply: call.reply }]);
  const worker = await startWorkerProcess(stage, {
    NODE_OPTIONS: `--import=${blocker}`,
    // Heartbeats may stop for 8 s.
    BLOCK_EVENT_LOOP_MS: '12000',
  });
  const run = await stage.start('plannerRun', input, 'blocked');
  const inFlight = await untilCall(stage, 'blocked', 4);
  worker.signal('SIGUSR2');
  await untilGivenUp(stage, inFlight);
  call.release();

  expect(await outcomeOf(stage, run)).toEqual(outcome);
  const calls = callsOfRun(stage, 'blocked').length;
  expect(calls).toBeGreaterThanOrEqual(n);
  expect(calls).toBeLessThanOrEqual(n + 1);
  // Whether both attempts bought a reply or one, it counts once: the other told nobody.
  const { usage } = await stage.result(run);
  expect(usage.calls).toBe(n);
  const histories = await expectPromisesKept(stage, 'blocked', { orphans: true });
  // The fault fired.
  expect(countHeartbeatTimeouts(histories)).toBeGreaterThanOrEqual(1);
  // The worker that lived through it still serves.
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
}, 180_000);
