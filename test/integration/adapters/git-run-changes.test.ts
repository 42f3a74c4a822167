import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  appliedCommit,
  diffRun,
  undoChanges,
} from '../../../activities/adapters/git/apply-changes.ts';
import { createRunChanges } from '../../../activities/adapters/git/git-run-changes.ts';
import { moveRef } from '../../../activities/adapters/git/git-snapshots.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { repositoryOf } from '../../../activities/adapters/git/run-repository.ts';
import { createGitFixture, plantProgram, put, userGit } from '../../support/git-fixture.ts';

const files = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' };
const commit = { message: 'Mend it', at: 1_700_000_000 };

async function createRun(changes: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const fixture = createGitFixture(files);
  const { home, dir } = fixture;
  const worktrees = createGitWorktrees({ home });
  const delegation_ids = Object.keys(changes);
  for (const [delegation_id, changed] of Object.entries(changes)) {
    const worker = { delegation_id, foundations: [] };
    // oxlint-disable-next-line no-await-in-loop
    put((await worktrees.open({ run_id: 'my-run', dir, worker })) ?? '', changed);
  }
  const folder = { run_id: 'my-run', dir, delegation_ids, results_folders: [] };
  return { ...fixture, folder, changes: createRunChanges({ home }) };
}

it('each delegation that contradicts those before it is named with them and the files', async () => {
  const { changes, folder } = await createRun({
    one: { 'a.txt': 'ONE\ntwo\nthree\n' },
    apart: { 'b.txt': 'B\n' },
    two: { 'a.txt': 'other\ntwo\nthree\n' },
    three: { 'a.txt': 'one\ntwo\nTHREE\n', 'b.txt': 'C\n' },
  });
  expect(await changes.findConflicts(folder)).toEqual([
    { delegation_id: 'two', with: ['one'], files: ['a.txt'] },
    { delegation_id: 'three', with: ['apart'], files: ['b.txt'] },
  ]);
  const proposed = await changes.propose(folder);
  expect(proposed).toMatchObject({ can_commit: false, files: [] });
  expect(proposed?.obstacle).toMatch(/two and the delegations before it .*"a\.txt"/);
  const kept = { ...folder, delegation_ids: ['one', 'apart'] };
  expect(await changes.findConflicts(kept)).toEqual([]);
  expect(await changes.propose(kept)).toMatchObject({
    files_total: 2,
    lines_added: 2,
    lines_removed: 2,
    can_commit: true,
    obstacle: '',
    delegations: [
      { delegation_id: 'one', files_total: 1 },
      { delegation_id: 'apart', files_total: 1 },
    ],
  });
});

it('a commit on the user’s branch holds the changes and nothing else, however often it is asked for', async () => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n', 'c/d.txt': 'd\n' } });
  expect(await changes.apply(folder, commit)).toEqual({ state: 'committed', note: '' });
  expect(await changes.apply(folder, commit)).toEqual({ state: 'committed', note: '' });
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  expect(userGit(dir, 'log', '--format=%s', '--name-only', '-1')).toBe(
    'Mend it\n\na.txt\nc/d.txt\n',
  );
  expect(userGit(dir, 'rev-list', '--count', 'HEAD')).toBe('2\n');
  expect(() => userGit(dir, 'fsck', '--strict')).not.toThrow();
});

it('a task of a team that contradicts the one before it is left out, until it is done on top of it', async () => {
  const { changes, folder, home, dir } = await createRun({
    'pair.d2': { 'a.txt': 'ONE\ntwo\nthree\n' },
    'pair.d10': { 'a.txt': 'other\ntwo\nthree\n', 'c.txt': 'c\n' },
    pairs: { 'b.txt': 'B\n' },
  });
  const run = { ...folder, delegation_ids: ['pair', 'pairs'] };
  expect(await changes.findTaskConflicts(run, 'pair', [])).toEqual([
    { delegation_id: 'pair.d10', with: ['pair.d2'], files: ['a.txt'] },
  ]);
  expect(await changes.findTaskConflicts(run, 'pairs', [])).toEqual([]);
  expect(await changes.findConflicts(run)).toEqual([]);
  expect(await changes.propose(run)).toMatchObject({
    obstacle: '',
    files: [
      { change: 'changed', path: 'a.txt' },
      { change: 'changed', path: 'b.txt' },
    ],
    delegations: [{ delegation_id: 'pair.d2' }, { delegation_id: 'pairs' }],
  });
  const again = { delegation_id: 'pair.d11', foundations: ['pair.d2'] };
  const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker: again });
  expect(readFileSync(join(copy ?? '', 'a.txt'), 'utf8')).toContain('ONE');
  put(copy ?? '', { 'a.txt': 'both\ntwo\nthree\n', 'c.txt': 'c\n' });
  expect(await changes.propose(run)).toMatchObject({
    files_total: 3,
    patch: expect.stringContaining('+both'),
    delegations: [
      { delegation_id: 'pair.d2' },
      { delegation_id: 'pair.d11', files_total: 2 },
      { delegation_id: 'pairs' },
    ],
  });
});

it('of more tasks that are left out than are listed, the number is said', async () => {
  const numbers = Array.from({ length: 13 }, (_, at) => at + 1);
  const { changes, folder } = await createRun(
    Object.fromEntries(numbers.map((at) => [`pair.d${at}`, { 'a.txt': `${at}\ntwo\nthree\n` }])),
  );
  const found = await changes.findTaskConflicts(folder, 'pair', []);
  expect(found.map(({ delegation_id }) => delegation_id)).toEqual(
    numbers.slice(1, 11).map((at) => `pair.d${at}`),
  );
  expect(found.map(({ more }) => more)).toEqual([...Array<undefined>(9), 2]);
});

it('changes too large for a patch are counted and proposed with a patch that lacks some of them', async () => {
  const { changes, folder, home, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  const worktrees = createGitWorktrees({ home });
  const place = { run_id: 'my-run', dir, worker: { delegation_id: 'one', foundations: [] } };
  const copy = (await worktrees.open(place)) ?? '';
  writeFileSync(join(copy, 'data.bin'), Buffer.alloc(1_000));
  writeFileSync(join(copy, 'line.txt'), Buffer.alloc(65 * 1024 * 1024, 'x'));
  put(copy, { 'new.txt': 'new\n' });
  const shown = expect.stringMatching(/\+ONE\n[^]*Binary files .* and b\/data\.bin differ\n/u);
  expect((await worktrees.diff(place))?.slice(0, 1_000)).toEqual(shown);
  const { patch = '', ...sums } = (await changes.propose(folder)) ?? {};
  expect(sums).toMatchObject({ files_total: 4, obstacle: '', can_commit: true });
  expect(patch.slice(0, 1_000)).toEqual(shown);
  expect(patch.slice(-100)).toMatch(/x\n\[cut after 16777216 bytes\]\n$/u);
  await expect(diffRun({ ...folder, home })).rejects.toThrow('printed more than 64 MB');
  // One that is small enough has every byte.
  rmSync(join(copy, 'line.txt'));
  expect(await worktrees.diff(place)).toContain('GIT binary patch');
});

describe('the undo of a commit', () => {
  const later = 1_700_000_100;
  const committed = async () => {
    const set = await createRun({ one: { 'a.txt': 'ONE\ntwo\nthree\n', 'c/d.txt': 'd\n' } });
    expect(await set.changes.apply(set.folder, commit)).toMatchObject({ state: 'committed' });
    const undo = () => undoChanges({ ...set.folder, home: set.home }, later);
    const log = () => userGit(set.dir, 'log', '--format=%s').trim().split('\n');
    const status = () => userGit(set.dir, 'status', '--porcelain');
    return { ...set, undo, log, status };
  };

  it('is a commit that names it, on top of what came since', async () => {
    const { dir, undo, log, status } = await committed();
    put(dir, { 'b.txt': 'mine\n' });
    userGit(dir, 'commit', '--quiet', '--all', '-m', 'mine');
    expect(await undo()).toMatchObject({ state: 'done', commit: 'reverted' });
    expect(log()).toEqual(['Revert "Mend it"', 'mine', 'Mend it', 'change']);
    expect(userGit(dir, 'log', '-1', '--format=%b')).toContain('This reverts commit ');
    expect(status()).toBe('');
    expect(userGit(dir, 'diff', 'HEAD~3', 'HEAD', '--name-only')).toBe('b.txt\n');
    expect(await undo()).toEqual({ state: 'nothing' });
    expect(() => userGit(dir, 'fsck', '--strict')).not.toThrow();
  });

  it.each([
    ['not committed', false, ' M a.txt\n M b.txt\n D c/d.txt\n'],
    ['staged', true, ' M a.txt\nM  b.txt\n D c/d.txt\n'],
  ])('is left to the user beside changes that are %s', async (_how, isStaged, expected) => {
    const { dir, undo, log, status } = await committed();
    put(dir, { 'b.txt': 'mine\n' });
    if (isStaged) userGit(dir, 'add', 'b.txt');
    expect(await undo()).toMatchObject({ state: 'done', commit: 'left' });
    expect(log()).toEqual(['Mend it', 'change']);
    expect(status()).toBe(expected);
    expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('mine\n');
  });

  it('touches nothing where the user changed the same lines since', async () => {
    const { dir, undo, log, status } = await committed();
    put(dir, { 'a.txt': 'MINE\ntwo\nthree\n' });
    expect(await undo()).toEqual({ state: 'conflict', with: null, files: ['a.txt'] });
    expect(log()).toEqual(['Mend it', 'change']);
    expect(status()).toBe(' M a.txt\n');
  });

  it('is finished by the next attempt when one was killed before it had said so', async () => {
    const { dir, home, undo, log, status } = await committed();
    const gitDir = repositoryOf(home, 'my-run');
    const applied = await appliedCommit(gitDir);
    expect(await undo()).toMatchObject({ commit: 'reverted' });
    await moveRef(gitDir, 'refs/planwave/applied', applied ?? '', null);
    expect(await undo()).toMatchObject({ commit: 'reverted' });
    // Killed between the files and the commit.
    await moveRef(gitDir, 'refs/planwave/applied', applied ?? '', null);
    userGit(dir, 'update-ref', 'HEAD', 'HEAD~1');
    userGit(dir, 'read-tree', 'HEAD');
    expect(await undo()).toMatchObject({ commit: 'reverted' });
    // Killed between the commit and the index.
    await moveRef(gitDir, 'refs/planwave/applied', applied ?? '', null);
    userGit(dir, 'read-tree', 'HEAD~1');
    expect(await undo()).toMatchObject({ commit: 'reverted' });
    expect(log()).toEqual(['Revert "Mend it"', 'Mend it', 'change']);
    expect(status()).toBe('');
  });
});

it('an attempt that was killed after the files were there is finished by the next one', async () => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  expect(await changes.apply(folder, null)).toEqual({ state: 'applied', note: '' });
  expect(userGit(dir, 'status', '--porcelain')).toBe(' M a.txt\n');
  expect(await changes.apply(folder, commit)).toEqual({ state: 'committed', note: '' });
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  // Killed between the commit and the index.
  userGit(dir, 'read-tree', 'HEAD~1');
  expect(userGit(dir, 'status', '--porcelain')).toBe('MM a.txt\n');
  expect(await changes.apply(folder, commit)).toEqual({ state: 'committed', note: '' });
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
});

it('the lock of a git that is at work keeps the commit back, and the files are said to be in the folder', async () => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  const lock = join(dir, '.git', 'index.lock');
  writeFileSync(lock, '');
  const { state, note } = await changes.apply(folder, commit);
  expect({ state, note }).toEqual({ state: 'applied', note: expect.stringContaining(lock) });
  // The answer of the run is final.
  expect(note).toContain('Try: git add and git commit in your folder');
  expect(note).not.toContain('once more');
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('ONE\n');
  expect(userGit(dir, 'rev-list', '--count', 'HEAD')).toBe('1\n');
  rmSync(lock);
  expect(await changes.apply(folder, commit)).toEqual({ state: 'committed', note: '' });
  // The lock came between the commit and the index.
  userGit(dir, 'read-tree', 'HEAD~1');
  writeFileSync(lock, '');
  expect(await changes.apply(folder, commit)).toEqual({
    state: 'committed',
    note: expect.stringContaining('git reset'),
  });
  rmSync(lock);
  userGit(dir, 'reset', '--quiet');
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
});

it('in a repository without a commit the changes are in the folder, and the note says why they are not committed', async () => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  userGit(dir, 'update-ref', '-d', 'HEAD');
  const { state, note } = await changes.apply(folder, commit);
  expect({ state, note }).toEqual({ state: 'applied', note: expect.stringMatching(/^Not comm/u) });
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('ONE\n');
});

it('changes of the user’s are never in a commit of the run', async () => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  put(dir, { 'b.txt': 'mine\n' });
  expect(await changes.propose(folder)).toMatchObject({ can_commit: false, obstacle: '' });
  expect(await changes.apply(folder, commit)).toMatchObject({
    state: 'applied',
    note: expect.stringContaining('Not committed'),
  });
  expect(userGit(dir, 'rev-list', '--count', 'HEAD')).toBe('1\n');
  expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('mine\n');
});

it.each([
  ['no branch', ['checkout', '--quiet', '--detach'], 'no branch is checked out'],
  ['a staged change', ['rm', '--quiet', '--cached', 'b.txt'], 'other changes are staged'],
  ['a mode of another kind', ['update-index', '--chmod=+x', 'b.txt'], 'or modes'],
])('the note says why %s keeps the run from a commit', async (_what, args, reason) => {
  const { changes, folder, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  userGit(dir, 'config', 'core.fileMode', 'false');
  userGit(dir, ...args);
  if (reason === 'or modes') userGit(dir, 'commit', '--quiet', '-m', 'mode');
  expect(await changes.propose(folder)).toMatchObject({ can_commit: false });
  const note = expect.stringContaining(reason);
  expect(await changes.apply(folder, commit)).toEqual({ state: 'applied', note });
});

it('no program of the user’s configuration runs on the way', async () => {
  const { changes, folder, dir, root } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  const { program, hasRun } = plantProgram(root);
  for (const key of ['filter.x.clean', 'filter.x.smudge', 'core.fsmonitor']) {
    userGit(dir, 'config', key, program);
  }
  for (const hook of ['post-index-change', 'reference-transaction', 'pre-commit', 'post-commit']) {
    put(join(dir, '.git', 'hooks'), { [hook]: `#!/bin/sh\nexec ${program}\n` });
    chmodSync(join(dir, '.git', 'hooks', hook), 0o755);
  }
  put(join(dir, '.git', 'info'), { attributes: '* filter=x\n' });
  expect(await changes.propose(folder)).not.toBeNull();
  expect(await changes.apply(folder, commit)).toMatchObject({ state: 'committed' });
  expect(hasRun()).toBe(false);
});
