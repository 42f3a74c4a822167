import { cpSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-run-index.ts';
import { identifyHome } from '../../../activities/adapters/file-store/home-format.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories } from '../../support/histories.ts';
import type { PlayedStage } from '../../support/find-broken-promises.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  decision,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { runCommand } from '../../support/run-command.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A worker with a home of its own on the same task queue. */
let other: Stage;
beforeAll(async () => {
  other = await openStage({ beside: stage, opensWithWorker: false });
}, 90_000);
afterEach(() => other.stopWorker());
afterAll(() => other.close());

/** Counts the attempts of a run's activities that a worker with another store refused. */
async function countRefusals(run: WorkflowHandle): Promise<number> {
  const histories = await fetchHistories(stage.client, run.workflowId);
  const events = histories.flatMap(({ history }) => history.events ?? []);
  return events.filter(
    ({ activityTaskStartedEventAttributes: started }) =>
      started?.lastFailure?.applicationFailureInfo?.type === 'StoreUnavailable',
  ).length;
}

/** Returns a home as the stage of the runs that are kept in it. */
async function homeOf({ home }: Stage): Promise<PlayedStage> {
  return { client: stage.client, home, started: await createFileRunIndex({ home }).list() };
}

const askingGoal = { goal: 'Compare three databases' };

it('finding T6: two workers with two homes share a task queue, and no run is lost', async () => {
  await other.startWorker();
  const runs = await Promise.all(
    ['t6-a', 't6-b', 't6-c', 't6-d'].map((id) =>
      stage.start('plannerRun', { ...askingGoal, use_defaults: true }, id),
    ),
  );
  const results = await Promise.all(runs.map((run) => stage.result(run)));
  expect(results.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
  // No fault, no proof.
  const refusals = await Promise.all(runs.map(countRefusals));
  expect(refusals.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  const homes = [stage.home, other.home];
  const ids = await Promise.all(homes.map(async (home) => (await identifyHome(home)).id));
  expect(ids[0]).not.toBe(ids[1]);
  for (const run of runs) {
    const { store } = await stage.status(run);
    const at = ids.indexOf(store?.id ?? '');
    expect(store?.place).toContain(homes[at] ?? 'a home');
    const kept = await Promise.all([stage, other].map(homeOf));
    const has = kept.map(({ started = [] }) => started.includes(run.workflowId));
    expect(has).toEqual([at === 0, at === 1]);
    await expectPromisesKept(await homeOf(at === 0 ? stage : other), run.workflowId);
  }
}, 120_000);

it('finding T6: without its store a run waits; status, doctor, report and answer say why, and it goes on by itself', async () => {
  const run = await stage.start('plannerRun', { ...askingGoal, use_defaults: false }, 't6-waits');
  const { question_id, choices } = await openQuestion(stage, run);
  await stage.stopWorker();
  await other.startWorker();
  const [kept, found] = await Promise.all([stage, other].map(({ home }) => identifyHome(home)));
  const answered = await runCommand(other, ['answer', 't6-waits', question_id, choices[0] ?? '']);
  expect(answered).toMatchObject({ code: 0 });
  const elsewhere =
    `The run is kept in the store ${kept?.id} (${kept?.place}); this shell has the store ${found?.id} (${found?.place}). ` +
    'Its files, report and changes are not found here. Try: set PLANWAVE_HOME to the home of its worker, on that host';
  expect(answered.out).toContain(elsewhere);

  const refusal =
    `The run is kept in the store ${kept?.id} (${kept?.place}), and this worker has the store ${found?.id} (${found?.place}). ` +
    'Nothing was read or written; the run waits and goes on with a worker that has its store. ';
  const cure =
    'start the worker with that home (PLANWAVE_HOME), or let all workers of the task queue share one store';
  const shown = await eventually('the reason in the status', async () => {
    const { out } = await runCommand(other, ['status', 't6-waits']);
    return out.includes('waits for its store') && out;
  });
  expect(shown).toContain(`${refusal}Try: ${cure}`);
  expect(shown).toContain(elsewhere);
  const { out } = await runCommand(other, ['doctor', '--json']);
  const { checks }: { checks: { name: string; ok: boolean; detail: string; cure?: string }[] } =
    JSON.parse(out);
  const check = (name: string) => checks.find((one) => one.name === name);
  expect(check('waiting for a store')).toMatchObject({ ok: false, cure });
  expect(check('waiting for a store')?.detail).toContain('t6-waits');
  expect(check('stores')?.detail).toContain(`this shell has the store ${found?.id}`);
  expect(check('stores')?.detail).toContain(`${found?.id} (${process.pid}@`);
  expect(check('Files')?.detail).toContain(found?.id);
  const report = await runCommand(other, ['export', 't6-waits']);
  expect(report).toMatchObject({ code: 4, err: `${elsewhere}\n` });
  // Nothing was asked or decided meanwhile.
  expect((await stage.questions(run)).open).toEqual([]);

  await stage.startWorker();
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await other.stopWorker();
  await expectPromisesKept(await homeOf(stage), run.workflowId);
}, 120_000);

it('finding T6: a home that is unmounted while its worker works is waited for, and nothing is written in its place', async () => {
  const run = await stage.start('plannerRun', askingGoal, 't6-unmounted');
  const { question_id, choices } = await openQuestion(stage, run);
  const aside = `${stage.home}-aside`;
  renameSync(stage.home, aside);
  mkdirSync(stage.home);
  await submit(run, { question_id, answer: choices[0] });
  const shown = await eventually('the reason in the status', async () => {
    const { out } = await runCommand(other, ['status', 't6-unmounted']);
    return out.includes('waits for its store') && out;
  });
  expect(shown).toContain(`The artifact home "${stage.home}" is gone`);
  expect(readdirSync(stage.home)).toEqual([]);
  rmdirSync(stage.home);
  renameSync(aside, stage.home);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(await homeOf(stage), run.workflowId);
}, 120_000);

it('finding L3: a run whose artifacts are gone parks with path, cause and fix, and goes on once they are back', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Host the backup' });
  await openQuestion(stage, run);
  // The next worker has the home, but nothing in its store; and it remembers nothing.
  await stage.stopWorker();
  const segments = join(stage.home, 'segments');
  const aside = join(stage.home, 'aside');
  renameSync(segments, aside);
  mkdirSync(segments);
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const { parked_reason } = await eventually('the parked run', async () => {
    const status = await stage.status(run);
    return status.phase === 'parked' && status;
  });
  expect(parked_reason).toContain(segments);
  expect(parked_reason).toContain('another PLANWAVE_HOME');
  expect(parked_reason).toContain('then resume the run');
  expect((await stage.questions(run)).open).toEqual([]);

  cpSync(aside, segments, { recursive: true });
  // Run and wave park each on its own: what the second one lacked is told after the resume of the first.
  await eventually('the resumed run', async () => {
    const { phase } = await stage.status(run);
    if (phase === 'parked') await run.signal('resume', {});
    return phase === 'completed';
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(await homeOf(stage), run.workflowId);
}, 90_000);
