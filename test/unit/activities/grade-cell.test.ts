import { readFileSync } from 'node:fs';
import type { GradeCellInput } from '../../../contracts/evaluation.ts';
import { whileCurrent } from '../../../activities/attempt/heartbeat.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import {
  createEvaluationActivities,
  gradeCell,
} from '../../../activities/evaluation/create-evaluation-activities.ts';
import { StoreUnavailable, type RunIndex } from '../../../activities/ports/artifact-store.ts';
import { WorkspaceRefused } from '../../../activities/ports/workspaces.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
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

/**
 * @param run The command of the grader: gets the folder of its files.
 * @param changed Files as completed delegations of the run have changed them, by delegation_id.
 */
async function prepare(
  run: (folder: string) => void,
  changed: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
) {
  const { home, dir } = createGitFixture({ 'sum.js': 'a + b\n' });
  const worktrees = createGitWorktrees({ home });
  const bench = await createBench({ record: { run_id, workspace_dir: dir } });
  const { store } = bench;
  const record: object = JSON.parse(await store.getText(bench.record_ref));
  const outcomes = Object.keys(changed).map((delegation_id) => ({
    delegation_id,
    status: 'completed',
    output_ref: null,
    criteria_met: [],
  }));
  const waves = outcomes.length === 0 ? [] : [{ outcomes, decision_ref: null, status: 'stopped' }];
  const record_ref = await store.put(JSON.stringify({ ...record, waves }));
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
  const copyOf = async (delegation_id: string): Promise<string> => {
    const worker = { delegation_id, foundations: [] };
    return (await worktrees.open({ run_id, dir, worker })) ?? '';
  };
  for (const [id, files] of Object.entries(changed)) put(await copyOf(id), files);
  const copy = outcomes.length === 0 ? await copyOf('evaluation') : '';
  const input_ref = await store.put(JSON.stringify(evaluation));
  const cell = { cell: 1, goal: 'goal', setting: 'direct', repetition: 1 };
  const grade = (at = bench.env()) =>
    runIn(at, (input: GradeCellInput) => whileCurrent((asked) => gradeCell(deps, input, asked)), {
      input_ref,
      cell,
      run_id,
    });
  return { copy, grade, ended, worktrees };
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

it('a command is left out, for people to read, where the changes of the run contradict each other', async () => {
  let hasRun = false;
  const { grade } = await prepare(() => void (hasRun = true), {
    first: { 'sum.js': 'a - b\n' },
    second: { 'sum.js': 'a * b\n' },
  });
  const { grades, answer_ref } = await grade();
  expect(grades).toEqual([
    {
      grader: 'command',
      result: 'not_run',
      score: null,
      reason: expect.stringMatching(
        /^The command did not run.*"second" and "first".*"sum.js".* Try: the evaluation/u,
      ),
    },
  ]);
  expect(grades[0]?.reason).not.toContain('missing_info_requests');
  expect([answer_ref, hasRun]).toEqual([expect.any(String), false]);
});

it('a command that has run is not called left out when its files are refused afterwards', async () => {
  const { grade, worktrees } = await prepare(() => {
    worktrees.restore = () => Promise.reject(new WorkspaceRefused('The folder is a link.'));
  });
  await expect(grade()).rejects.toThrow('The folder is a link.');
});

it('an answer that can never be judged is the failure of its cell, and one that may is judged again', async () => {
  const bench = await createBench();
  let told = 'the index is broken';
  const away = new StoreUnavailable('away', { path: 'index', code: null });
  const read = () => Promise.reject(told === '' ? away : new Error(told));
  // No more than these activities use.
  const deps: Parameters<typeof createEvaluationActivities>[0] = Object.assign(
    Object.create(null),
    {
      store: bench.store,
      index: { read },
      kept: { read },
      onLeftOut: (words: string) => (told = words),
    },
  );
  const { gradeCell: grade, keepCell: keep } = createEvaluationActivities(deps);
  const cell = { cell: 1, goal: 'goal', setting: 'direct', repetition: 1 };
  const asked = { input_ref: bench.record_ref, cell, run_id };
  await expect(runIn(bench.env(1), grade, asked)).rejects.toThrow('the index is broken');
  expect(await runIn(bench.env(2), grade, asked)).toEqual({
    status: 'failed',
    reason: 'Its answer could not be judged: the index is broken',
    grades: [],
    answer_ref: null,
  });
  const ended = { run_id, status: 'completed', reason: '', passed: true, grades: [] } as const;
  const result = { ...cell, ...ended, usage: noUsage, seconds: 1, cached: false };
  await runIn(bench.env(2), keep, { address: 'a', input_ref: bench.record_ref, result });
  expect(told).toMatch(/^The result of cell 1 is not kept: The artifact .* is not an evaluation/);
  told = '';
  await expect(runIn(bench.env(40), grade, asked)).rejects.toMatchObject({ nonRetryable: false });
});
