import { spawnSync } from 'node:child_process';
import { findTemporalCli } from '../../../scripts/bootstrap/find-temporal-cli.mjs';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { findBrokenPromises } from '../../support/find-broken-promises.ts';
import { eventTypes } from '../../support/histories.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { callsOfRun, goal } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';
import { runAt } from '../../support/run-at.ts';
import { changeCheckout, nextVersion, secondEdition } from './changed-checkout.ts';
import type { ChangedCheckout } from './changed-checkout.ts';

/** So few events that a delegation continues as new while it waits for its answer. */
const shortHistories = '--dynamic-config-value=limit.historyCount.suggestContinueAsNew=15';

const { server, stage } = useOwnServer([shortHistories]);
let next: ChangedCheckout;
let old: RunningVersion;
let young: RunningVersion;
beforeAll(() => {
  next = changeCheckout(nextVersion);
});
afterAll(() => next.remove());

interface RunningVersion {
  readonly process: ScriptProcess;
  readonly buildId: string;
  /** The last line that the worker printed: the command that makes it current. */
  readonly command: string;
}

async function startVersion(
  over: { readonly checkout?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<RunningVersion> {
  const env = { TEMPORAL_DEPLOYMENT_NAME: 'planwave', ...over.env };
  const worker = await startWorkerProcess(stage, env, over.checkout);
  await worker.printed('--build-id');
  const [, buildId = ''] =
    / as version (\S+) of the deployment planwave\./.exec(worker.output()) ?? [];
  const command = /^ *(temporal worker deployment .*)$/m.exec(worker.output())?.[1] ?? '';
  return { process: worker, buildId, command };
}

/** As an operator does it: a command that planwave printed, in a shell. */
async function runCommand(command: string): Promise<void> {
  const { path } = await findTemporalCli();
  const line = command.replace(/^temporal/, `'${path}'`);
  // The server learns of a version with its first poll.
  await eventually(command, async () => spawnSync(line, { shell: true }).status === 0);
}

/** The builds that completed a workflow task. */
function buildsOf(histories: readonly StoredHistory[]): string[] {
  const builds = histories.flatMap(({ history }) =>
    (history.events ?? []).flatMap((event) => {
      const completed = event.workflowTaskCompletedEventAttributes;
      return completed ? [completed.deploymentVersion?.buildId ?? 'none'] : [];
    }),
  );
  return [...new Set(builds)];
}

const readsSecondEdition = ({ body }: { readonly body: unknown }): boolean =>
  JSON.stringify(body).includes(secondEdition);

it('fault 8: an old and a new worker share a queue, and a run keeps the code and prompts that it began with', async () => {
  old = await startVersion();
  await runCommand(old.command);
  const first = await stage.start('plannerRun', { goal }, 'first');
  await openQuestion(stage, first);
  await openQuestion(stage, await stage.start('plannerRun', { goal }, 'waiting'));

  young = await startVersion({ checkout: next.root });
  expect(young.buildId).not.toBe(old.buildId);
  await runCommand(young.command);
  const second = await stage.start('plannerRun', { goal }, 'second');
  await openQuestion(stage, second);
  // Both are there to the end, and the delegations of the first run that wait for the answer start only now.
  await submit(first, { question_id: 'q1', answer: 'everybody' });
  await submit(second, { question_id: 'q1', answer: 'everybody' });
  expect((await stage.result(first)).status).toBe('completed');
  expect((await stage.result(second)).status).toBe('completed');

  const ofFirst = await expectPromisesKept(stage, 'first');
  expect(buildsOf(ofFirst)).toEqual([old.buildId]);
  expect(ofFirst.flatMap(eventTypes)).toContain('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
  expect(callsOfRun(stage, 'first').filter(readsSecondEdition)).toEqual([]);

  const { broken, histories: ofSecond } = await findBrokenPromises(stage, 'second');
  expect(buildsOf(ofSecond)).toEqual([young.buildId]);
  expect(callsOfRun(stage, 'second').filter(readsSecondEdition)).not.toEqual([]);
  // That it does not replay on the code of the first run shows what would have happened without versions.
  expect(broken).toEqual([expect.stringMatching(/^replay: .*second does not replay/)]);
});

it('doctor names the runs whose version is gone, and the command that moves them to another', async () => {
  const env = { TEMPORAL_ADDRESS: server.address, PLANWAVE_TASK_QUEUE: stage.taskQueue };
  const cli = (...argv: string[]) => runAt(server.address, argv, { deps: { env } });
  const healthy = await cli('doctor');
  expect(healthy.out).toMatch(/✓ worker: 2 workers poll .*; new runs go to planwave:/);
  expect(healthy.out).toContain('✓ pinned runs: none');

  old.process.signal('SIGKILL');
  await old.process.ended;
  // A server remembers for minutes who polled; one that was just started knows only who polls.
  await server.kill();
  await server.restart();
  const complaint = await eventually('doctor misses the old version', async () => {
    const { out } = await cli('doctor');
    return out.includes('✗ pinned runs') && out.includes('✓ worker: 1 worker polls') && out;
  });
  expect(complaint).toContain(`2 to planwave:${old.buildId}`);
  expect((await cli('status', 'waiting')).out).toContain(
    `The server knows no worker of version planwave:${old.buildId} that asks for work, and the run is pinned to it`,
  );

  await startVersion({ env: { TEMPORAL_WORKER_BUILD_ID: 'hotfix' } });
  // Nothing can be moved to a version that has not polled yet, and a batch does not say so.
  await runCommand(
    `temporal worker deployment describe-version --deployment-name planwave --build-id hotfix --address ${server.address}`,
  );
  const [, move = ''] = /move them: (temporal .*)$/m.exec(complaint) ?? [];
  await runCommand(`${move.replace(young.buildId, 'hotfix')} --yes`);
  const run = stage.client.workflow.getHandle('waiting');
  await eventually('the run is moved', async () => {
    const { raw } = await run.describe();
    return raw.workflowExecutionInfo?.versioningInfo?.versioningOverride?.pinned?.version;
  });
  await submit(run, { question_id: 'q1', answer: 'everybody' });
  expect((await stage.result(run)).status).toBe('completed');
  const builds = buildsOf(await expectPromisesKept(stage, 'waiting', { refusedTasks: true }));
  expect(builds.toSorted()).toEqual(['hotfix', old.buildId]);
});
