import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import {
  atomicWriteFile,
  temporarySuffix,
} from '../../../activities/adapters/file-store/atomic-write-file.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { repositoryOf } from '../../../activities/adapters/git/run-repository.ts';
import type { WorkspacePlace } from '../../../activities/ports/workspaces.ts';
import {
  commitAll,
  createGitFixture,
  plantProgram,
  put,
  userGit,
} from '../../support/git-fixture.ts';

const files = {
  'src/sum.js': 'export const sum = (a, b) => a - b;\n',
  'docs/read.md': 'one\r\ntwo\r\n',
  '.gitignore': 'dist/\n*.log\n',
  '.gitattributes': '* text=auto eol=lf\n',
  'kept.log': 'tracked although ignored\n',
};

function createSet(extra: Readonly<Record<string, string>> = {}) {
  const fixture = createGitFixture({ ...files, ...extra });
  const all = createGitWorktrees(fixture);
  const worktrees = {
    ...all,
    open: async (place: WorkspacePlace) => (await all.open(place)) ?? '',
    keep: async (place: WorkspacePlace) => (await all.keep(place)) ?? '',
  };
  const of = (delegation_id: string, foundations: readonly string[] = []): WorkspacePlace => ({
    run_id: 'my-run',
    dir: fixture.dir,
    worker: { delegation_id, foundations },
  });
  return { ...fixture, worktrees, of };
}

/** Every file below a folder with its text. */
function readAll(dir: string): Record<string, string> {
  const names = execFileSync('find', ['.', '-type', 'f', '-not', '-path', './.git/*'], {
    cwd: dir,
  });
  const paths = names.toString().trim().split('\n').toSorted();
  return Object.fromEntries(
    paths.map((path) => [path.slice(2), readFileSync(join(dir, path), 'latin1')]),
  );
}

it('a worktree has the bytes of the user’s files, also those not committed, and no repository', async () => {
  const { worktrees, of, dir } = createSet();
  put(dir, { 'src/new.js': 'new\n', 'dist/out.js': 'built\n', 'docs/read.md': 'three\r\n' });
  const folder = await worktrees.open(of('fix'));
  const { 'dist/out.js': ignored, ...expected } = readAll(dir);
  expect(ignored).toBe('built\n');
  expect(readAll(folder)).toEqual(expected);
  expect(existsSync(join(folder, '.git'))).toBe(false);
  expect(await worktrees.open(of('fix'))).toBe(folder);
});

it('the user’s repository stays as it was', async () => {
  const { worktrees, of, dir } = createSet();
  const stateOf = () => [
    userGit(dir, 'status', '--porcelain'),
    userGit(dir, 'for-each-ref'),
    readAll(dir),
  ];
  const before = stateOf();
  const folder = await worktrees.open(of('fix'));
  writeFileSync(join(folder, 'src/sum.js'), 'changed\n');
  await worktrees.keep(of('fix'));
  expect(stateOf()).toEqual(before);
  expect(userGit(dir, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
});

it('the same files give the same commit, and a commit puts everything back', async () => {
  const { worktrees, of } = createSet();
  const folder = await worktrees.open(of('fix'));
  const first = await worktrees.keep(of('fix'));
  expect(await worktrees.keep(of('fix'))).toBe(first);
  const before = readAll(folder);
  put(folder, { 'src/sum.js': 'broken', 'deep/new/file': 'x', 'nested/a': 'x', 'dist/cache': 'y' });
  rmSync(join(folder, 'docs'), { recursive: true });
  // A file where a folder was, a link, a repository inside.
  writeFileSync(join(folder, 'docs'), 'no folder');
  symlinkSync('/etc', join(folder, 'etc'));
  execFileSync('git', ['init', '--quiet', join(folder, 'nested')]);
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  chmodSync(join(folder, 'kept.log'), 0o755);
  await worktrees.restore(of('fix'), first);
  rmSync(join(folder, 'fifo'), { force: true });
  expect(readAll(folder)).toEqual({ ...before, 'dist/cache': 'y' });
  expect(existsSync(join(folder, 'etc'))).toBe(false);
});

it('a repository in place of a file is a folder like any other, from the first commit on', async () => {
  const { worktrees, of } = createSet();
  const folder = await worktrees.open(of('fix'));
  const first = await worktrees.keep(of('fix'));
  const before = readAll(folder);
  rmSync(join(folder, 'src/sum.js'));
  execFileSync('git', ['init', '--quiet', join(folder, 'src/sum.js')]);
  put(folder, { 'src/sum.js/part.js': 'a part' });
  const second = await worktrees.keep(of('fix'));
  expect(await worktrees.listTouched(of('fix'))).toEqual([
    { change: 'deleted', path: 'src/sum.js' },
    { change: 'added', path: 'src/sum.js/part.js' },
  ]);
  await worktrees.restore(of('fix'), first);
  expect(readAll(folder)).toEqual(before);
  await worktrees.restore(of('fix'), second);
  expect(readAll(folder)).toMatchObject({ 'src/sum.js/part.js': 'a part' });
});

it('folders that a command has closed do not keep a copy from being put back', async () => {
  const { worktrees, of, root } = createSet();
  const folder = await worktrees.open(of('fix'));
  const kept = await worktrees.keep(of('fix'));
  const before = readAll(folder);
  put(folder, { 'src/sum.js': 'broken', 'closed/inner/left.txt': 'x' });
  for (const path of ['src', 'closed/inner', 'closed']) chmodSync(join(folder, path), 0o555);
  // Root may do everything in a closed folder.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', root]);
  if (isRoot) process.seteuid?.(65_534);
  try {
    await worktrees.restore(of('fix'), kept);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  expect(readAll(folder)).toEqual(before);
  expect(existsSync(join(folder, 'closed'))).toBe(false);
});

it('the change of a delegation is a patch that applies to the user’s folder', async () => {
  const { worktrees, of, dir } = createSet();
  const folder = await worktrees.open(of('fix'));
  expect(await worktrees.diff(of('fix'))).toBe('');
  put(folder, { 'src/sum.js': 'export const sum = (a, b) => a + b;\n', 'ünï\ncode': 'new\n' });
  expect(await worktrees.listChanges(of('fix'))).toEqual([
    { change: 'changed', path: 'src/sum.js' },
    { change: 'added', path: 'ünï\ncode' },
  ]);
  const patch = await worktrees.diff(of('fix'));
  execFileSync('git', ['-C', dir, 'apply', '-'], { input: patch ?? '' });
  expect(readFileSync(join(dir, 'src/sum.js'), 'utf8')).toContain('a + b');
  expect(readFileSync(join(dir, 'ünï\ncode'), 'utf8')).toBe('new\n');
});

it('what a killed worker left of a write is no change', async () => {
  const { worktrees, of } = createSet();
  const folder = await worktrees.open(of('fix'));
  const left = async (): Promise<never> => {
    const [name = ''] = readdirSync(folder).filter((one) => one.endsWith(temporarySuffix));
    put(folder, { [`src/${name}`]: 'half' });
    throw new Error('killed');
  };
  const write = atomicWriteFile(join(folder, 'half.txt'), 'half', { mayStill: left });
  await expect(write).rejects.toThrow('killed');
  expect(readdirSync(join(folder, 'src'))).toHaveLength(2);
  expect(await worktrees.diff(of('fix'))).toBe('');
});

it('the lock of a ref that a killed git has left holds up nothing', async () => {
  const { worktrees, of, home } = createSet();
  const folder = await worktrees.open(of('fix'));
  for (const secondsOld of [60, 0]) {
    writeFileSync(join(folder, 'src/sum.js'), `${secondsOld}\n`);
    const lock = join(repositoryOf(home, 'my-run'), 'refs/planwave/end/fix.lock');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    const at = Date.now() / 1_000 - secondsOld;
    utimesSync(lock, at, at);
    const commit = await worktrees.keep(of('fix'));
    expect(await worktrees.keep(of('fix'))).toBe(commit);
    expect(existsSync(lock)).toBe(false);
  }
});

it('a delegation begins with the merged changes of those that it builds on', async () => {
  const { worktrees, of } = createSet();
  put(await worktrees.open(of('a')), { 'a.txt': 'a' });
  put(await worktrees.open(of('team.task')), { 'b.txt': 'b' });
  const folder = await worktrees.open(of('review', ['a', 'team', 'none']));
  expect(readAll(folder)).toMatchObject({ 'a.txt': 'a', 'b.txt': 'b' });
  expect(await worktrees.diff(of('review'))).toBe('');
});

it('changes of the same line are a conflict with its files, and nothing is half made', async () => {
  const { worktrees, of, home } = createSet();
  put(await worktrees.open(of('a')), { 'src/sum.js': 'a\n' });
  put(await worktrees.open(of('b')), { 'src/sum.js': 'b\n' });
  await expect(worktrees.open(of('c', ['a', 'b']))).rejects.toThrow(/"b" and "a".*"src\/sum.js"/);
  expect(readdirSync(join(home, 'my-run', 'worktrees')).toSorted()).toEqual(['a', 'b']);
});

it('two calls that open one worktree at once get the same one', async () => {
  const { worktrees, of } = createSet();
  const opened = await Promise.all([1, 2, 3, 4].map(() => worktrees.open(of('fix'))));
  expect(new Set(opened).size).toBe(1);
  expect(Object.keys(readAll(opened[0] ?? ''))).toHaveLength(Object.keys(files).length);
});

it('a folder that is no repository is copied too, without secrets, shared folders and the artifact home', async () => {
  const { root } = createSet();
  const plain = join(root, 'plain');
  const home = join(plain, '.planning');
  put(plain, {
    'a.txt': 'a',
    'deep/.env.local': 'KEY=1',
    '.env': 'KEY=1',
    'node_modules/left-pad/index.js': 'x',
  });
  const worktrees = createGitWorktrees({ home });
  const place = { run_id: 'my-run', dir: plain, worker: { delegation_id: 'fix', foundations: [] } };
  const folder = (await worktrees.open(place)) ?? '';
  expect(readAll(folder)).toEqual({ 'a.txt': 'a' });
  put(folder, { 'a.txt': 'b', 'node_modules/x.js': 'x' });
  expect(await worktrees.listChanges(place)).toEqual([{ change: 'changed', path: 'a.txt' }]);
});

it('a tracked file that is a folder by now, and a tracked folder that is a link, are copied as they are', async () => {
  const { worktrees, of, dir } = createSet({ 'link/x.js': 'x\n', 'grün/ß.log': 'umlaut\n' });
  rmSync(join(dir, 'docs/read.md'));
  rmSync(join(dir, 'src'), { recursive: true });
  rmSync(join(dir, 'link'), { recursive: true });
  put(dir, { 'docs/read.md/inside.md': 'inside\n', src: 'a file\n', 'other/x.js': 'other\n' });
  symlinkSync('other', join(dir, 'link'));
  const folder = await worktrees.open(of('fix'));
  expect(readAll(folder)).toEqual(readAll(dir));
  expect(readAll(folder)).toHaveProperty(['docs/read.md/inside.md'], 'inside\n');
  expect(readlinkSync(join(folder, 'link'))).toBe('other');
});

it('the folder itself is used without a worker, and a linked worktree is a repository', async () => {
  const { worktrees, of, dir, root } = createSet();
  for (const place of [
    { run_id: 'my-run', dir },
    { ...of('fix'), dir: null },
  ]) {
    expect(await worktrees.open(place)).toBe('');
    expect(await worktrees.diff(place)).toBe(null);
  }
  userGit(dir, 'worktree', 'add', '--quiet', '--detach', join(root, 'linked'));
  const folder = await worktrees.open({ ...of('fix'), dir: join(root, 'linked') });
  const { '.git': link, ...linked } = readAll(join(root, 'linked'));
  expect(link).toContain('gitdir: ');
  expect(readAll(folder)).toEqual(linked);
});

it('files in a repository that a command has made are files of the copy, and its ".git" is not', async () => {
  const { worktrees, of, dir } = createSet();
  const folder = await worktrees.open(of('fix'));
  const before = await worktrees.keep(of('fix'));
  for (const path of ['app', 'app/lib/\u00FC', 'empty']) {
    execFileSync('git', ['init', '--quiet', join(folder, path)]);
  }
  const made = { 'app/main.rs': 'main\n', 'app/lib/\u00FC/lib.rs': 'lib\n' };
  put(folder, { ...made, 'app/.gitignore': 'target\n', 'app/target/out': 'o', 'app/all.log': 'l' });
  const paths = ['app/.gitignore', 'app/lib/\u00FC/lib.rs', 'app/main.rs'];
  const added = paths.map((path) => ({ change: 'added', path }));
  expect(await worktrees.listChanges(of('fix'))).toEqual(added);
  expect(await worktrees.listChanges(of('fix'))).toEqual(added);
  const patch = await worktrees.diff(of('fix'));
  execFileSync('git', ['-C', dir, 'apply', '-'], { input: patch ?? '' });
  expect(readAll(dir)).toMatchObject(made);
  expect(readAll(await worktrees.open(of('next', ['fix'])))).toMatchObject(made);
  const kept = await worktrees.keep(of('fix'));
  put(folder, { 'app/main.rs': 'broken', 'app/lib/left.rs': 'x' });
  await worktrees.restore(of('fix'), kept);
  expect(await worktrees.listChanges(of('fix'))).toEqual(added);
  expect(readAll(folder)).toMatchObject(made);
  await worktrees.restore(of('fix'), before);
  expect(existsSync(join(folder, 'app/main.rs'))).toBe(false);
  expect(await worktrees.listChanges(of('fix'))).toEqual([]);
});

describe('an agent makes git run nothing', () => {
  it.each(['core.fsmonitor', 'core.hooksPath', 'filter.evil.clean', 'diff.evil.command'])(
    'by a repository with %s in place of, or inside, its worktree',
    async (key) => {
      const { worktrees, of, root } = createSet();
      const { program, hasRun } = plantProgram(root);
      const folder = await worktrees.open(of('fix'));
      const commit = await worktrees.keep(of('fix'));
      for (const place of [folder, join(folder, 'inner')]) {
        mkdirSync(place, { recursive: true });
        execFileSync('git', ['init', '--quiet', place]);
        put(place, { 'a.txt': 'a', '.gitattributes': '* filter=evil diff=evil\n' });
        execFileSync('git', ['-C', place, 'add', 'a.txt']);
        commitAll(place);
        const hooks = join(root, 'hooks');
        mkdirSync(hooks, { recursive: true });
        for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout']) {
          rmSync(join(hooks, hook), { force: true });
          symlinkSync(program, join(hooks, hook));
        }
        userGit(place, 'config', key, key === 'core.hooksPath' ? hooks : program);
      }
      rmSync(join(root, 'has-run'), { force: true });
      await worktrees.keep(of('fix'));
      expect(await worktrees.diff(of('fix'))).toContain('b/inner/a.txt');
      await worktrees.open(of('next', ['fix']));
      await worktrees.restore(of('fix'), commit);
      expect(hasRun()).toBe(false);
    },
  );

  it('although a plain call of git runs a planted program', async () => {
    const { worktrees, of, root } = createSet();
    const { program, hasRun } = plantProgram(root);
    const folder = await worktrees.open(of('fix'));
    execFileSync('git', ['init', '--quiet', folder]);
    userGit(folder, 'config', 'core.fsmonitor', program);
    userGit(folder, 'status', '--porcelain');
    expect(hasRun()).toBe(true);
  });

  it('by filters, hooks and monitors of the user’s own configuration', async () => {
    const { worktrees, of, dir, root } = createSet();
    const { program, hasRun } = plantProgram(root);
    const folder = await worktrees.open(of('fix'));
    userGit(dir, 'config', 'filter.user.clean', program);
    userGit(dir, 'config', 'core.fsmonitor', program);
    appendFileSync(join(dir, '.git', 'info', 'attributes'), '* filter=user\n');
    put(folder, { '.gitattributes': '* filter=user\n', 'new.txt': 'x' });
    await worktrees.keep(of('fix'));
    await createGitWorktrees({ home: join(root, 'other-home') }).open(of('fix'));
    expect(hasRun()).toBe(false);
  });

  it('nor follow a ".git" that points elsewhere', async () => {
    const { worktrees, of, dir, root } = createSet();
    const folder = await worktrees.open(of('fix'));
    writeFileSync(join(folder, '.git'), `gitdir: ${join(dir, '.git')}\n`);
    put(folder, { 'a.txt': 'a' });
    const patch = await worktrees.diff(of('fix'));
    expect(patch).toContain('a.txt');
    expect(patch).not.toContain('gitdir');
    // A link in place of a folder leads nowhere.
    renameSync(join(folder, 'src'), join(root, 'src'));
    symlinkSync(join(root, 'src'), join(folder, 'src'));
    expect(await worktrees.diff(of('fix'))).toContain('new file mode 120000');
  });
});
