import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { callsOfRun, goal, outcomeOf, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

/** Until somebody cuts it: no test waits that long. */
const hangs = { pass: true, delayMs: 600_000 } as const;

// `doctor` tells of every run of a server that waits for its store, and other tests make theirs wait.
const { stage } = useProcessStages({ serverArguments: [] });

/** Plays the run without a kill. Returns its result and its model calls. */
async function runUndisturbed() {
  await stage.startWorker();
  const run = await stage.start('plannerRun', { goal, use_defaults: true }, 'undisturbed');
  const outcome = await outcomeOf(stage, run);
  await stage.stopWorker();
  return { outcome, n: callsOfRun(stage, 'undisturbed').length };
}

it('fault 2: kill -9 inside a model call, at several calls of two runs', async () => {
  const { n, outcome } = await runUndisturbed();
  const kills = [
    { one: 1, parallel: 2 },
    { one: 5, parallel: 6 },
    { one: 11, parallel: 9 },
  ];
  stage.rehearsal.script(
    kills.flatMap(({ one, parallel }) => [
      { match: { callKeyIncludes: 'one-slot/', nth: one }, reply: hangs },
      { match: { callKeyIncludes: 'parallel/', nth: parallel }, reply: hangs },
    ]),
  );
  const input = { goal, use_defaults: true };
  const one = await stage.start(
    'plannerRun',
    { ...input, limits: { max_parallel: 1 } },
    'one-slot',
  );
  const parallel = await stage.start('plannerRun', input, 'parallel');

  for (const kill of kills) {
    const worker = await startWorkerProcess(stage);
    await untilCall(stage, 'one-slot', kill.one);
    await untilCall(stage, 'parallel', kill.parallel);
    worker.signal('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
  }
  await stage.startWorker();

  expect(await outcomeOf(stage, one)).toEqual(outcome);
  expect(await outcomeOf(stage, parallel)).toEqual(outcome);
  for (const [runId, slots] of [
    ['one-slot', 1],
    ['parallel', 2],
  ] as const) {
    const calls = callsOfRun(stage, runId);
    // The fault fired: each kill cut a call off.
    const cut = calls.filter((call) => call.outcome === 'client-closed').length;
    expect(cut).toBeGreaterThanOrEqual(kills.length);
    expect(calls.length).toBeGreaterThanOrEqual(n);
    expect(calls.length).toBeLessThanOrEqual(n + slots * kills.length);
    await expectPromisesKept(stage, runId, { orphans: true });
  }
});

it('part of fault 2: an answer sent while the killed worker is away is applied once when another comes', async () => {
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', { goal }, 'answered-alone');
  const question = await eventually('a question', async () => (await stage.questions(run)).open[0]);
  const answer = { question_id: question.question_id, answer: question.choices[1] };
  // Nothing is in flight that the kill could cut off.
  await untilIdle(stage, run.workflowId);
  first.signal('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  await run.signal('answer', answer);
  await run.signal('answer', answer);
  // The fault fired: nobody has looked at the answer.
  expect((await run.describe()).memo?.['phase']).toBe('waiting_for_user');

  await stage.startWorker();
  expect(await outcomeOf(stage, run)).toMatchObject({ status: 'completed' });
  const { answered, rejected } = await stage.questions(run);
  expect(answered.map((one) => one.answer)).toEqual([question.choices[1]]);
  expect(rejected).toEqual([]);
  // Asked, answered: a second delivery would have cost a third call.
  expect(callsOfRun(stage, `${run.workflowId}/wave-001/gather-facts`)).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId);
});

it('finding T6: kill -9 inside a call; a worker with another home leaves the call to one with the home of the run', async () => {
  stage.rehearsal.script([{ match: { callKeyIncludes: 'two-homes/', nth: 3 }, reply: hangs }]);
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', { goal, use_defaults: true }, 'two-homes');
  await untilCall(stage, 'two-homes', 3);
  const home = mkdtempSync(join(tmpdir(), 'planwave-other-home-'));
  const other = await startWorkerProcess({ ...stage, home });
  first.signal('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  // What the dead had sent may still be on its way to the model.
  await eventually('the end of its calls', async () =>
    callsOfRun(stage, 'two-homes').every(({ outcome }) => outcome !== null),
  );
  const calls = callsOfRun(stage, 'two-homes').length;
  const shown = await eventually('the wait for the store', async () => {
    const { out } = await runCommand(stage, ['status', 'two-homes']);
    return out.includes('waits for its store: modelTurn') && out;
  });
  expect(shown).toContain(JSON.stringify(home));
  expect(shown).toContain(JSON.stringify(stage.home));
  const { out } = await runCommand({ ...stage, home }, ['doctor']);
  expect(out).toMatch(/✗ waiting for a store: two-homes\. /);
  expect(out).toMatch(new RegExp(`(?:✓|✗) stores: .*\\(${other.pid}@`));
  // Nothing was called, and nothing of the run was written.
  expect(callsOfRun(stage, 'two-homes')).toHaveLength(calls);
  expect(existsSync(join(home, 'segments'))).toBe(false);

  await startWorkerProcess(stage);
  expect(await outcomeOf(stage, run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId, { orphans: true, refusedTasks: true });
  rmSync(home, { recursive: true });
});
