import { readFileSync } from 'node:fs';
import type { GradeCellInput } from '../../../contracts/evaluation.ts';
import { whileCurrent } from '../../../activities/attempt/heartbeat.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { gradeCell } from '../../../activities/evaluation/create-evaluation-activities.ts';
import type { RunIndex } from '../../../activities/ports/artifact-store.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture, put } from '../../support/git-fixture.ts';
import { notFound, oldAttempt } from '../../support/old-attempt.ts';
import { createBench, runIn } from './bench.ts';

const run_id = 'my-run';
const evaluation = {
  name: 'one',
  goals: [{ name: 'goal', goal: 'Mend the sum' }],
  settings: [{ name: 'direct', run: 'direct' }],
  graders: [{ kind: 'command', argv: ['test'] }],
};

/** @param run The command of the grader: gets the folder of its files. */
async function prepare(run: (folder: string) => void) {
  const { home, dir } = createGitFixture({ 'sum.js': 'a + b\n' });
  const worktrees = createGitWorktrees({ home });
  const bench = await createBench({ record: { run_id, workspace_dir: dir } });
  const { store, record_ref } = bench;
  const index: RunIndex = {
    read: () => Promise.resolve({ ref: record_ref, version: 1 }),
    write: () => Promise.resolve(true),
    list: () => Promise.resolve([run_id]),
  };
  const ended: string[] = [];
  const deps: Parameters<typeof gradeCell>[0] = {
    store,
    worktrees,
    workspaces: fileWorkspaces(home, undefined, worktrees),
    index,
    commands: {
      confined: true,
      endLeftovers: (folder) => Promise.resolve(void ended.push(folder)),
      run: ({ folder }) => {
        run(folder);
        return Promise.resolve({ ending: 'exited', exit_code: 0, duration_ms: 1, output: '' });
      },
    },
  };
  const worker = { delegation_id: 'evaluation', foundations: [] };
  const copy = (await worktrees.open({ run_id, dir, worker })) ?? '';
  const input_ref = await store.put(JSON.stringify(evaluation));
  const cell = { cell: 1, goal: 'goal', setting: 'direct', repetition: 1 };
  const grade = (at = bench.env()) =>
    runIn(at, (input: GradeCellInput) => whileCurrent((asked) => gradeCell(deps, input, asked)), {
      input_ref,
      cell,
      run_id,
    });
  return { copy, grade, ended };
}

it('a command does not see what the one of an interrupted attempt has changed', async () => {
  const seen: string[] = [];
  const { copy, grade, ended } = await prepare((folder) => {
    seen.push(readFileSync(`${folder}/sum.js`, 'utf8'));
    put(folder, { 'sum.js': 'changed by the command\n' });
  });
  put(copy, { 'sum.js': 'half-written\n' });
  expect(await grade()).toMatchObject({ grades: [{ grader: 'command', result: 'passed' }] });
  expect([seen, [...new Set(ended)]]).toEqual([['a + b\n'], [copy]]);
  expect(readFileSync(`${copy}/sum.js`, 'utf8')).toBe('a + b\n');
});

it('an attempt that comes back when another one has the work puts nothing back', async () => {
  let isLost = false;
  const { copy, grade } = await prepare((folder) => {
    isLost = true;
    put(folder, { 'sum.js': 'of the other attempt\n' });
  });
  const late = oldAttempt(() => (isLost ? Promise.reject(notFound()) : Promise.resolve()));
  await expect(grade(late)).rejects.toThrow('somebody else may have the work');
  expect(readFileSync(`${copy}/sum.js`, 'utf8')).toBe('of the other attempt\n');
});
