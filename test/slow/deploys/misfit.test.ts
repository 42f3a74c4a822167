import { NativeConnection } from '@temporalio/worker';
import { openHome } from '../../../activities/adapters/file-store/home-format.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createActivities } from '../../../worker/create-activities.ts';
import { readBundle } from '../../../worker/bundle-workflows.ts';
import { createWorker } from '../../../worker/create-worker.ts';
import type { StuckWorkflow } from '../../../client/stuck-workflows.ts';
import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { findBrokenPromises } from '../../support/find-broken-promises.ts';
import { fetchHistories } from '../../support/histories.ts';
import { goal } from '../../support/process-stage.ts';
import { sharedBundle } from '../../support/shared-server.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';
import { runAt } from '../../support/run-at.ts';
import type { CliOutcome } from '../../support/run-at.ts';
import { changeCheckout, nextVersion, replaceOnce } from './changed-checkout.ts';
import type { Change, ChangedCheckout } from './changed-checkout.ts';

let next: ChangedCheckout;
beforeAll(() => {
  next = changeCheckout(nextVersion);
});
afterAll(() => next.remove());

// `doctor` and `list` tell of every run of a server that is stuck: other tests must not see these.
const { stage } = useProcessStages({ serverArguments: [] });

const cli = (...argv: string[]): Promise<CliOutcome> => runAt(stage.address, argv);

async function replace(worker: ScriptProcess, checkout?: string): Promise<ScriptProcess> {
  worker.signal('SIGTERM');
  await worker.ended;
  return startWorkerProcess(stage, {}, checkout);
}

/** `planwave doctor --replay` of a checkout. */
async function replay(checkout?: string): Promise<{ ending: string; output: string }> {
  const doctor = runScript(['doctor', '--replay'], stageEnvironment(stage), checkout);
  return { ending: await doctor.ended, output: doctor.output() };
}

// The first test: it counts the open runs of the server.
it('fault 9: code that does not fit parks a run loudly, and after the roll-back it goes on to the right end', async () => {
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', { goal });
  const id = run.workflowId;
  await openQuestion(stage, run);
  expect(await replay()).toEqual({
    ending: 'exit code 0',
    output: '2 open workflows replayed, 0 would break.\n',
  });
  const before = await replay(next.root);
  expect(before.ending).toBe('exit code 1');
  expect(before.output).toMatch(
    new RegExp(`^✗ ${id}: .*HistoryEvent.*\\n2 open workflows replayed, 1 would`),
  );

  const watching = cli('watch', id, '--json');
  const second = await replace(first, next.root);
  await run.signal('answer', { question_id: 'q1', answer: 'everybody' });
  const misfit = `Stuck: the worker's code does not fit the history of ${id} (`;
  const shown = await eventually('status says that it is stuck', async () => {
    const { out } = await cli('status', id);
    return out.includes(misfit) && out;
  });
  expect(shown).toMatch(
    /HistoryEvent.*Nothing is lost.*Try: go back to the code that ran it before/,
  );
  await eventually('list says so too', async () => {
    const { out } = await cli('list', '--open');
    return new RegExp(`^${id} +stuck `, 'm').test(out) && out.includes(misfit);
  });
  const doctor = await cli('doctor');
  expect(doctor.out).toContain(`✗ stuck runs: ${id}. ${misfit}`);
  expect((await run.describe()).status.name).toBe('RUNNING');

  await replace(second);
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  const { code, out } = await watching;
  expect(code).toBe(0);
  expect(out).toContain(misfit);
  const { answered } = await stage.questions(run);
  expect(answered.map(({ answer }) => answer)).toEqual(['everybody']);
  // All promises but one: these tasks failed by design.
  const { broken } = await findBrokenPromises(stage, id, { refusedTasks: true });
  expect(broken).not.toEqual([]);
  expect(broken.filter((line) => !/a workflow task failed.*NON_DETERMINISTIC/.test(line))).toEqual(
    [],
  );
});

it('part of fault 9: a run that answers tells of its child at which the new code fails', async () => {
  const id = `child-${stage.taskQueue}`;
  const child = `${id}/wave-001/gather-facts`;
  await stage.startWorker();
  const run = await stage.start('plannerRun', { goal, limits: { inline_events: 1 } }, id);
  await openQuestion(stage, run);
  await stage.stopWorker();
  const worker = await startChangedWorker(buggyDelegation);
  await run.signal('answer', { question_id: 'q1', answer: 'everybody' });
  const stuck = `Stuck: the worker fails at ${child} (a bug of the next version).`;
  await eventually('the status of the run tells of its child', async () => {
    const { out } = await cli('status', id);
    return out.includes(stuck) && !out.includes('No worker');
  });
  expect((await cli('list', '--open')).out).toMatch(new RegExp(`^${id} +stuck `, 'm'));
  await worker.stop();

  await stage.startWorker();
  expect((await stage.result(run)).status).toBe('completed');
  expect((await cli('doctor')).out).not.toContain(child);
  const { broken } = await findBrokenPromises(stage, id, { refusedTasks: true });
  expect(broken).not.toEqual([]);
  expect(broken.filter((line) => !line.includes('a bug of the next version'))).toEqual([]);
});

/** A run that waits for an answer, and whose every workflow task fails since. */
async function leaveStuck() {
  const worker = await startChangedWorker(reservedNamesThrow);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  await run.signal('__temporal_x');
  return { worker, run };
}

it('finding L1: status tells a run that no code cures from one that a deploy cures, and its reset command does', async () => {
  const { worker, run } = await leaveStuck();
  const stuck = await eventually('status says that it is stuck', async () => {
    const { out } = await cli('status', run.workflowId, '--json');
    const shown: { readonly stuck: readonly StuckWorkflow[] } = JSON.parse(out);
    return shown.stuck[0];
  });
  expect(stuck).toMatchObject({ workflow_id: run.workflowId, is_misfit: false, cure: 'reset' });
  const { out } = await cli('status', run.workflowId);
  const [, command = ''] =
    /earlier code does not help.* Try: npm run planwave -- (.*), or a newer/.exec(out) ?? [];
  const reset = runScript(command.split(' '), stageEnvironment(stage));
  expect({ ending: await reset.ended, output: reset.output() }).toMatchObject({
    ending: 'exit code 0',
  });
  const again = stage.client.workflow.getHandle(run.workflowId);
  await openQuestion(stage, again);
  await again.signal('answer', { question_id: 'q1', answer: 'everybody' });
  expect((await stage.result(again)).status).toBe('completed');
  await worker.stop();
});

it('finding L1: a run that an older version left stuck goes on under this one', async () => {
  const { worker, run } = await leaveStuck();
  await eventually('it is stuck', async () =>
    (await cli('status', run.workflowId)).out.includes('Stuck: '),
  );
  await worker.stop();

  await stage.startWorker();
  await run.signal('answer', { question_id: 'q1', answer: 'everybody' });
  expect((await stage.result(run)).status).toBe('completed');
  const { rejected } = await stage.questions(run);
  expect(rejected.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('There is no signal "__temporal_x".'),
  ]);
});

it('fault 5: workflow code that gets no processor for six seconds is not cut off', async () => {
  const worker = await startChangedWorker(slowRun);
  const run = await stage.client.workflow.start('plannerRun', {
    taskQueue: stage.taskQueue,
    workflowId: 'slow-code',
    // The server waits for it too.
    workflowTaskTimeout: '20 seconds',
    args: [{ goal, use_defaults: true }],
  });
  expect((await stage.result(run)).status).toBe('completed');
  const histories = await fetchHistories(stage.client, run.workflowId);
  const events = histories.flatMap(({ history }) => history.events ?? []);
  expect(events.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  await worker.stop();
});

/** Delegations throw as soon as they go on. */
const takesOrder = 'const { order, carried } = args;';
const buggyDelegation = {
  from: takesOrder,
  to: `${takesOrder} throw new Error('a bug of the next version');`,
};

const opens = 'const { taken_over = null } = await host.open(';
/** Stands still for longer than the SDK gives workflow code, as in a worker without a processor. */
const slowRun = {
  from: opens,
  to: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000); ${opens}`,
};

/** As every version before `workflows/shared/signal-intake.ts`. */
const reservedNamesThrow = {
  from: "const reservedPrefix = '__temporal_'",
  to: "const reservedPrefix = '__no_such_prefix'",
};

async function startChangedWorker({
  from,
  to,
}: Omit<Change, 'file'>): Promise<{ stop(): Promise<void> }> {
  expect(await openHome(stage.home)).toBeNull();
  const connection = await NativeConnection.connect({ address: stage.address });
  const redactor = createRedactor({ secrets: [] });
  const worker = await createWorker({
    connection,
    namespace: 'default',
    taskQueue: stage.taskQueue,
    workflowBundle: { code: replaceOnce(readBundle(sharedBundle()), from, to) },
    redactor,
    activities: createActivities(
      {
        home: stage.home,
        apiKey: 'rehearsal',
        baseUrl: stage.rehearsal.url,
        defaultModel: 'rehearsal',
        isRehearsal: true,
      },
      redactor,
    ),
  });
  const running = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
