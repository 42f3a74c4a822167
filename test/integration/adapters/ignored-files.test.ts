import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRunChanges } from '../../../activities/adapters/git/git-run-changes.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { WorkspaceRefused, type WorkspacePlace } from '../../../activities/ports/workspaces.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture, put } from '../../support/git-fixture.ts';

const result = 'agents/fact_agent/task_output/facts.csv';

/** A project that ignores tables and builds, but tracks one of each. */
function createSet() {
  const { home, dir } = createGitFixture({
    'a.js': 'a\n',
    '.gitignore': '*.csv\ndist/\n',
    'kept.csv': '1,2\n',
    'dist/kept.js': 'kept\n',
  });
  const worktrees = createGitWorktrees({ home });
  const workspaces = fileWorkspaces(home, undefined, worktrees);
  const of = (delegation_id: string, foundations: readonly string[] = []): WorkspacePlace => ({
    run_id: 'my-run',
    dir,
    worker: { delegation_id, foundations },
  });
  const changes = (results_folders: readonly string[]) => {
    const run = { run_id: 'my-run', dir, delegation_ids: ['facts'], results_folders };
    return createRunChanges({ home }).propose(run);
  };
  return { dir, worktrees, workspaces, of, changes };
}

it('a file at an ignored path of a copy is refused, because no result of the run would have it', async () => {
  const { worktrees, workspaces, of } = createSet();
  const place = of('fix');
  for (const path of ['facts.csv', 'dist/index.html', 'agents/x/task_output/node_modules/a.js']) {
    // oxlint-disable-next-line no-await-in-loop
    const refused = await workspaces.write(place, path, 'x').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WorkspaceRefused);
    expect(String(refused)).toContain('is ignored by git');
    expect(existsSync(join((await worktrees.open(place)) ?? '', path))).toBe(false);
  }
  await workspaces.write(place, 'kept.csv', '3,4\n');
  await workspaces.write(place, 'dist/kept.js', 'new\n');
  const changed = await worktrees.listChanges(place);
  expect(changed?.map(({ path }) => path)).toEqual(['dist/kept.js', 'kept.csv']);
});

it('a result of a plan’s agent reaches the tasks that build on it, although an ignore file names it', async () => {
  const { worktrees, workspaces, of, changes } = createSet();
  const place = of('facts');
  await workspaces.write(place, result, 'a,b\n');
  const copy = (await worktrees.open(place)) ?? '';
  put(copy, { 'agents/fact_agent/task_output/.env': 'SECRET=1\n', 'other.csv': '1\n' });
  expect((await workspaces.read(place, result)).bytes).toBe(4);
  const listed = await workspaces.list(of('read', ['facts']), '', 4);
  const paths = listed.entries.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['dist/kept.js', 'kept.csv', result]));
  expect((await workspaces.read(of('read', ['facts']), result)).bytes).toBe(4);
  expect(await worktrees.listChanges(place)).toEqual([{ change: 'added', path: result }]);
  expect(await changes(['agents/fact_agent/task_output'])).toBeNull();
});

it('a file that git tracks although it is ignored can be read in a copy, and no other one', async () => {
  const { worktrees, workspaces, of } = createSet();
  const place = of('fix');
  put((await worktrees.open(place)) ?? '', { 'dist/built.js': 'built\n', 'other.csv': '1\n' });
  for (const path of ['kept.csv', 'dist/kept.js']) {
    // oxlint-disable-next-line no-await-in-loop
    expect((await workspaces.read(place, path)).bytes).toBeGreaterThan(0);
  }
  await expect(workspaces.read(place, 'dist/built.js')).rejects.toThrow('ignored');
  await expect(workspaces.read(place, 'other.csv')).rejects.toThrow('ignored');
  const { entries } = await workspaces.list(place, '', 3);
  expect(entries.map(({ path }) => path)).toEqual([
    '.gitignore',
    'a.js',
    'dist',
    'dist/kept.js',
    'kept.csv',
  ]);
});

describe('what the user’s git ignores elsewhere', () => {
  const before = process.env['XDG_CONFIG_HOME'];
  afterEach(() => {
    if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
    else process.env['XDG_CONFIG_HOME'] = before;
  });

  it('is in no copy, and does not keep changes from being committed', async () => {
    const { root, home, dir } = createGitFixture({ 'a.js': 'a\n' });
    put(root, { 'config/git/ignore': '*.swp\n!.env' });
    process.env['XDG_CONFIG_HOME'] = join(root, 'config');
    put(dir, { '.git/info/exclude': '/priv\n', priv: 'x\n', 'a.swp': 'x\n', '.env': 'KEY=1\n' });
    const worker = { delegation_id: 'fix', foundations: [] };
    const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
    expect(readdirSync(copy ?? '').toSorted()).toEqual(['a.js']);
    put(copy ?? '', { 'a.js': 'b\n' });
    rmSync(join(dir, '.env'));
    const run = { run_id: 'my-run', dir, delegation_ids: ['fix'], results_folders: [] };
    const changes = createRunChanges({ home });
    expect(await changes.propose(run)).toMatchObject({ can_commit: true, obstacle: '' });
    expect(await changes.apply(run, { message: 'Mend it', at: 1_700_000_000 })).toEqual({
      state: 'committed',
      note: '',
    });
  });

  it.each([
    ['has an error', '[core\n'],
    ['names a folder of a user who does not exist', '[core]\nexcludesFile = ~no-such-user/x\n'],
  ])('is what the usual file names, where the setting %s', async (_what, config) => {
    const { root, home, dir } = createGitFixture({ 'a.js': 'a\n' });
    put(root, { 'config/git/config': config, 'config/git/ignore': '*.swp\n' });
    put(dir, { 'a.swp': 'x\n' });
    process.env['XDG_CONFIG_HOME'] = join(root, 'config');
    const worker = { delegation_id: 'fix', foundations: [] };
    const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
    expect(readdirSync(copy ?? '').toSorted()).toEqual(['a.js']);
  });

  it.each([
    ['a folder of it', 'sub/priv\nsub/[[]a] b\n*.tmp\n', ['keep.js']],
    ['that folder itself', '*\n', ['[a] b', 'keep.js', 'priv', 'x.tmp']],
  ])('is in no copy of a folder of the repository: %s', async (_what, patterns, expected) => {
    const { home, dir } = createGitFixture({ 'a.js': 'a\n' });
    put(dir, { '.gitignore': patterns });
    put(join(dir, 'sub'), { 'keep.js': '1\n', 'priv/x': '2', '[a] b': '3', 'x.tmp': '4' });
    const place = { run_id: 'my-run', dir: join(dir, 'sub') };
    const worker = { delegation_id: 'fix', foundations: [] };
    const copy = await createGitWorktrees({ home }).open({ ...place, worker });
    expect(readdirSync(copy ?? '').toSorted()).toEqual(expected);
  });
});
