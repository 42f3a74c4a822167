import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { identifyHome } from '../../../activities/adapters/file-store/home-format.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import type { PlayedStage } from '../../support/find-broken-promises.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

// `doctor` tells of every run of a server that waits for its store, and other tests make theirs wait.
const { stage } = useStage({ serverArguments: [] });

/** A worker with a home of its own on the same task queue. */
let other: Stage;
beforeAll(async () => {
  other = await openStage({ beside: stage, opensWithWorker: false });
});
afterEach(() => other.stopWorker());
afterAll(() => other.close());

/** Waits until the status of a run, in a shell with the other home, says that it waits for its store. */
function shownWait(id: string): Promise<string> {
  return eventually(`the reason in the status of ${id}`, async () => {
    const { out } = await runCommand(other, ['status', id]);
    return out.includes('waits for its store') && out;
  });
}

/** Returns a home as the stage of the runs that are kept in it. */
async function homeOf({ home }: Stage): Promise<PlayedStage> {
  return { client: stage.client, home, started: await createFileRunIndex({ home }).list() };
}

function inDetail(...texts: readonly string[]): unknown {
  return expect.stringMatching(new RegExp(texts.join('.*')));
}

const askingGoal = { goal: 'Compare three databases' };

/** Starts a run that asks a question, with the only worker that is there. */
async function startAsking(id: string) {
  const run = await stage.start('plannerRun', askingGoal, id);
  const { question_id, choices } = await openQuestion(stage, run);
  return { run, answer: { question_id, answer: choices[0] } };
}

it('finding T6: two workers with two homes share a task queue: no run is lost, each waits for its store and says why', async () => {
  const first = [await startAsking('t6-a'), await startAsking('t6-b')];
  await stage.stopWorker();
  await other.startWorker();
  const second = [await startAsking('t6-c'), await startAsking('t6-d')];
  const kept = await identifyHome(stage.home);
  const found = await identifyHome(other.home);
  expect(kept.id).not.toBe(found.id);
  const [a, b] = first;
  const { question_id, answer } = a?.answer ?? { question_id: 'none', answer: 'none' };
  const answered = await runCommand(other, ['answer', 't6-a', question_id, String(answer)]);
  expect(answered).toMatchObject({ code: 0 });
  if (b !== undefined) await submit(b.run, b.answer);
  const elsewhere =
    `The run is kept in the store ${kept.id} (${kept.place}); this shell has the store ${found.id} (${found.place}). ` +
    'Its files, report and changes are not found here. Try: set PLANWAVE_HOME to the home of its worker, on that host';
  expect(answered.out).toContain(elsewhere);

  const refusal =
    `The run is kept in the store ${kept.id} (${kept.place}), and this worker has the store ${found.id} (${found.place}). ` +
    'Nothing was read or written; the run waits for a worker that has its store. ';
  const cure =
    'start the worker with that home (PLANWAVE_HOME), or let all workers of the task queue share one store';
  for (const id of ['t6-a', 't6-b']) {
    const shown = await shownWait(id);
    expect(shown).toContain(`${refusal}Try: ${cure}`);
    expect(shown).toContain(elsewhere);
  }
  const { out } = await runCommand(other, ['doctor', '--json']);
  const { checks }: { checks: unknown[] } = JSON.parse(out);
  expect(checks).toEqual(
    expect.arrayContaining([
      {
        name: 'waiting for a store',
        ok: false,
        detail: inDetail('t6-[ab], t6-[ab]', kept.id, found.id),
        cure,
      },
      expect.objectContaining({
        name: 'stores',
        detail: inDetail(`${found.id} \\(${process.pid}@`, `this shell has the store ${found.id}`),
      }),
      expect.objectContaining({ name: 'Files', detail: inDetail(`id ${found.id}`) }),
    ]),
  );
  expect(await runCommand(other, ['export', 't6-a'])).toMatchObject({
    code: 4,
    err: `${elsewhere}\n`,
  });

  await stage.startWorker();
  for (const { run, answer: given } of second) await submit(run, given);
  const all = [...first, ...second];
  for (const { run } of all) expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  for (const [at, { run }] of all.entries()) {
    const isFirst = at < first.length;
    expect((await stage.status(run)).store).toEqual(isFirst ? kept : found);
    // Nothing else was asked meanwhile, and the other home knows nothing of it.
    expect((await stage.questions(run)).answered).toHaveLength(1);
    const home = await homeOf(isFirst ? stage : other);
    expect((await homeOf(isFirst ? other : stage)).started).not.toContain(run.workflowId);
    await expectPromisesKept(home, run.workflowId, { refusedTasks: true });
  }
});

it('finding T6: a home that is unmounted while its worker works is waited for, and nothing is written in its place', async () => {
  const { run, answer } = await startAsking('t6-unmounted');
  // An attempt in flight has been let in.
  await untilIdle(stage, run.workflowId);
  const aside = `${stage.home}-aside`;
  renameSync(stage.home, aside);
  mkdirSync(stage.home);
  await submit(run, answer);
  expect(await shownWait('t6-unmounted')).toContain(`The artifact home "${stage.home}" is gone`);
  expect(readdirSync(stage.home)).toEqual([]);
  rmdirSync(stage.home);
  renameSync(aside, stage.home);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(await homeOf(stage), run.workflowId);
});
