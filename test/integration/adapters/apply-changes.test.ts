import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  applyChanges,
  diffRun,
  undoChanges,
} from '../../../activities/adapters/git/apply-changes.ts';
import { createRunChanges } from '../../../activities/adapters/git/git-run-changes.ts';
import { createGitWorktrees, diffOf } from '../../../activities/adapters/git/git-worktrees.ts';
import { moveRef, readRef } from '../../../activities/adapters/git/git-snapshots.ts';
import { repositoryOf } from '../../../activities/adapters/git/run-repository.ts';
import { createGitFixture, put, userGit } from '../../support/git-fixture.ts';

const files = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', '.gitignore': 'built\n' };

async function createRun(changes: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const fixture = createGitFixture(files);
  const worktrees = createGitWorktrees(fixture);
  const delegation_ids = Object.keys(changes);
  for (const [delegation_id, changed] of Object.entries(changes)) {
    const worker = { delegation_id, foundations: [] };
    // oxlint-disable-next-line no-await-in-loop
    const folder = await worktrees.open({ run_id: 'my-run', dir: fixture.dir, worker });
    put(folder ?? '', changed);
  }
  const run = {
    home: fixture.home,
    run_id: 'my-run',
    dir: fixture.dir,
    delegation_ids,
    results_folders: [],
  };
  const text = (path: string): string => readFileSync(join(fixture.dir, path), 'utf8');
  return { ...fixture, run, text };
}

it('a folder that was moved away is named as that', async () => {
  const { run, dir } = await createRun({ one: { 'a.txt': 'ONE\n' } });
  renameSync(dir, `${dir}.moved`);
  await expect(applyChanges(run)).rejects.toThrow(`there is no folder ${dir}`);
});

it('parallel changes are merged, brought into the folder once, and taken out again', async () => {
  const { run, text, dir } = await createRun({
    first: { 'a.txt': 'ONE\ntwo\nthree\n' },
    second: { 'a.txt': 'one\ntwo\nTHREE\n', 'new.txt': 'new\n' },
  });
  expect(await diffRun(run)).toContain('+THREE');
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  expect(await applyChanges(run)).toEqual({
    state: 'done',
    files: [
      { change: 'changed', path: 'a.txt' },
      { change: 'added', path: 'new.txt' },
    ],
  });
  expect([text('a.txt'), text('new.txt')]).toEqual(['ONE\ntwo\nTHREE\n', 'new\n']);
  expect(await applyChanges(run)).toEqual({ state: 'applied_before' });
  // What the user does meanwhile stays.
  put(dir, { 'b.txt': 'mine\n' });
  expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
  expect([text('a.txt'), text('b.txt')]).toEqual([files['a.txt'], 'mine\n']);
  expect(userGit(dir, 'status', '--porcelain')).toBe(' M b.txt\n');
  expect(await undoChanges(run, 1_700_000_000)).toEqual({ state: 'nothing' });
});

it('a folder that is no repository is changed and put back in the same way', async () => {
  const { root, home } = createGitFixture(files);
  const dir = join(root, 'plain');
  put(dir, files);
  const worker = { delegation_id: 'fix', foundations: [] };
  const folder = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
  put(folder ?? '', { 'a.txt': 'ONE\n', 'new/c.txt': 'c\n' });
  rmSync(join(folder ?? '', 'b.txt'));
  const run = { home, run_id: 'my-run', dir, delegation_ids: ['fix'], results_folders: [] };
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe(files['a.txt']);
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
  expect(readFileSync(join(dir, 'new/c.txt'), 'utf8')).toBe('c\n');
  put(dir, { 'mine.txt': 'mine\n' });
  expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
  expect(readdirSync(dir).toSorted()).toEqual(['.gitignore', 'a.txt', 'b.txt', 'mine.txt']);
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe(files['a.txt']);
});

it('what the user changed meanwhile stays, whether committed or not', async () => {
  const { run, text, dir } = await createRun({ fix: { 'a.txt': 'ONE\ntwo\nthree\n' } });
  put(dir, { 'a.txt': 'one\ntwo\nMINE\n' });
  userGit(dir, 'commit', '--quiet', '--all', '-m', 'mine');
  put(dir, { 'b.txt': 'also mine\n' });
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
  expect([text('a.txt'), text('b.txt')]).toEqual(['ONE\ntwo\nMINE\n', 'also mine\n']);
});

it('a folder that changed the same lines is left alone, and the files are named', async () => {
  const { run, text, dir } = await createRun({
    fix: { 'a.txt': 'ONE\ntwo\nthree\n', 'new.txt': 'new\n' },
  });
  put(dir, { 'a.txt': 'mine\ntwo\nthree\n' });
  expect(await applyChanges(run)).toEqual({ state: 'conflict', with: null, files: ['a.txt'] });
  expect(text('a.txt')).toBe('mine\ntwo\nthree\n');
  expect(userGit(dir, 'status', '--porcelain')).toBe(' M a.txt\n');
  // Later it may work.
  put(dir, { 'a.txt': files['a.txt'] });
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
});

it('delegations that changed the same line are a conflict with the second one', async () => {
  const { run, text } = await createRun({ first: { 'b.txt': '1\n' }, second: { 'b.txt': '2\n' } });
  const conflict = { state: 'conflict', with: 'second', files: ['b.txt'] };
  expect(await applyChanges(run)).toEqual(conflict);
  expect(await diffRun(run)).toEqual(conflict);
  expect(text('b.txt')).toBe('b\n');
});

it('an ignored file of the user that stands in the way is not overwritten', async () => {
  const { run, text, dir } = await createRun({ fix: { '.gitignore': '', built: 'by the run\n' } });
  put(dir, { built: 'by the user\n' });
  expect(await applyChanges(run)).toEqual({ state: 'in_the_way', files: ['built'] });
  expect([text('built'), text('.gitignore')]).toEqual(['by the user\n', 'built\n']);
  expect(await createRunChanges(run).propose(run)).toMatchObject({
    obstacle: expect.stringContaining('"built"'),
  });
});

describe('ignored files of the user in a folder', () => {
  const inSrc = { 'src/c.txt': 'c\n', 'src/deep/d.txt': 'd\n' };
  const users = { 'src/built': 'by the user\n', 'src/deep/.env': 'KEY=1\n' };

  it.each(['a file', 'a link'])('stay where the run puts %s in its place', async (what) => {
    const fixture = createGitFixture({ ...files, ...inSrc });
    const { home, dir } = fixture;
    put(dir, users);
    const worker = { delegation_id: 'move', foundations: [] };
    const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
    renameSync(join(copy ?? '', 'src'), join(copy ?? '', 'lib'));
    if (what === 'a file') put(copy ?? '', { src: 'see lib\n' });
    else symlinkSync('lib', join(copy ?? '', 'src'));
    const run = { home, run_id: 'my-run', dir, delegation_ids: ['move'], results_folders: [] };
    const inTheWay = { state: 'in_the_way', files: ['src/built', 'src/deep/.env'] };
    expect(await applyChanges(run)).toEqual(inTheWay);
    expect(readdirSync(join(dir, 'src')).toSorted()).toEqual(['built', 'c.txt', 'deep']);
    expect(userGit(dir, 'status', '--porcelain')).toBe('?? src/deep/.env\n');
    // Moved away, they keep nothing back, and a folder without files does not either.
    for (const path of Object.keys(users)) rmSync(join(dir, path));
    mkdirSync(join(dir, 'src/built'));
    expect(await applyChanges(run)).toMatchObject({ state: 'done' });
    expect(lstatSync(join(dir, 'src')).isDirectory()).toBe(false);
  });

  it('stay where an undo would put a file in its place', async () => {
    const { run, text, dir } = await createRun({ one: {} });
    const worker = { delegation_id: 'one', foundations: [] };
    const { home } = run;
    const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
    rmSync(join(copy ?? '', 'b.txt'));
    put(copy ?? '', { 'b.txt/c.txt': 'c\n' });
    expect(await applyChanges(run)).toMatchObject({ state: 'done' });
    put(dir, { 'b.txt/built/out.txt': 'by the user\n' });
    const inTheWay = { state: 'in_the_way', files: ['b.txt/built/'] };
    expect(await undoChanges(run, 1_700_000_000)).toEqual(inTheWay);
    expect(text('b.txt/built/out.txt')).toBe('by the user\n');
    rmSync(join(dir, 'b.txt/built'), { recursive: true });
    userGit(join(dir, 'b.txt'), 'init', '--quiet');
    const repository = { state: 'in_the_way', files: ['b.txt/.git'] };
    expect(await undoChanges(run, 1_700_000_000)).toEqual(repository);
    rmSync(join(dir, 'b.txt/.git'), { recursive: true });
    expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
    expect(text('b.txt')).toBe('b\n');
  });
});

it('nothing is written through a link that stands where a folder was, and a link of the run leads nowhere', async () => {
  const { run, dir, root } = await createRun({ fix: { 'src/new.txt': 'new\n' } });
  const outside = join(root, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(dir, 'src'));
  expect(await applyChanges(run)).toMatchObject({ files: [expect.stringContaining('src')] });
  expect(readdirSync(outside)).toEqual([]);
  rmSync(join(dir, 'src'));
  const worker = { delegation_id: 'link', foundations: [] };
  const { home } = run;
  const folder = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
  writeFileSync(join(outside, 'secret'), 'secret\n');
  symlinkSync(join(outside, 'secret'), join(folder ?? '', 'leak'));
  const linked = { ...run, delegation_ids: ['link'] };
  expect(await diffRun(linked)).not.toContain('secret\n+');
  expect(await applyChanges(linked)).toMatchObject({ state: 'done' });
  expect(lstatSync(join(dir, 'leak')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
});

it('an interrupted apply is finished, and can be undone', async () => {
  const { run, text, dir, home } = await createRun({
    fix: { 'a.txt': 'ONE\n', 'new.txt': 'new\n' },
  });
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
  // As if it had been killed after the first file.
  const gitDir = repositoryOf(home, 'my-run');
  const applied = await readRef(gitDir, 'refs/planwave/applied');
  await moveRef(gitDir, 'refs/planwave/applying', applied ?? '', null);
  rmSync(join(gitDir, 'refs', 'planwave', 'applied'));
  rmSync(join(dir, 'new.txt'));
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
  expect([text('a.txt'), text('new.txt')]).toEqual(['ONE\n', 'new\n']);
  expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
});

/** A run whose first delegation is applied, after which a second one builds on it. */
async function createGrownRun() {
  const made = await createRun({ first: { 'a.txt': 'ONE\ntwo\nthree\n' } });
  const { run, home, dir } = made;
  expect(await applyChanges(run)).toMatchObject({ state: 'done' });
  const worker = { delegation_id: 'second', foundations: ['first'] };
  const copy = await createGitWorktrees({ home }).open({ run_id: 'my-run', dir, worker });
  put(copy ?? '', { 'a.txt': 'Eins\ntwo\nthree\n', 'new.txt': 'new\n' });
  return { ...made, run: { ...run, delegation_ids: ['first', 'second'] } };
}

describe('changes that a run makes after its first ones were applied', () => {
  const grown = 'Eins\ntwo\nthree\n';

  it('come on top of them, and all are taken out at once', async () => {
    const { run, text, dir } = await createGrownRun();
    put(dir, { 'b.txt': 'mine\n' });
    expect(await applyChanges(run)).toEqual({
      state: 'done',
      files: [
        { change: 'changed', path: 'a.txt' },
        { change: 'added', path: 'new.txt' },
      ],
    });
    expect([text('a.txt'), text('new.txt'), text('b.txt')]).toEqual([grown, 'new\n', 'mine\n']);
    expect(await applyChanges(run)).toEqual({ state: 'applied_before' });
    expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
    expect(userGit(dir, 'status', '--porcelain')).toBe(' M b.txt\n');
  });

  it('are committed at the end of the run with them', async () => {
    const { run, home, dir } = await createGrownRun();
    const commit = { message: 'Mend it', at: 1_700_000_000 };
    expect(await createRunChanges({ home }).apply(run, commit)).toMatchObject({
      state: 'committed',
    });
    expect(userGit(dir, 'show', 'HEAD:a.txt')).toBe(grown);
    expect(userGit(dir, 'status', '--porcelain')).toBe('');
  });

  it('leave alone what the user has taken out since', async () => {
    const { run, text, dir } = await createGrownRun();
    put(dir, { 'a.txt': files['a.txt'] });
    expect(await applyChanges(run)).toEqual({ state: 'conflict', with: null, files: ['a.txt'] });
    expect(userGit(dir, 'status', '--porcelain')).toBe('');
    expect(text('a.txt')).toBe(files['a.txt']);
  });

  it('come in after an apply that was killed at its very end, and undone', async () => {
    const { run, text, dir, home } = await createGrownRun();
    const gitDir = repositoryOf(home, 'my-run');
    const applied = await readRef(gitDir, 'refs/planwave/applied');
    await moveRef(gitDir, 'refs/planwave/applying', applied ?? '', null);
    expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
    expect(userGit(dir, 'status', '--porcelain')).toBe('');
    expect(await applyChanges(run)).toMatchObject({ state: 'done' });
    expect([text('a.txt'), text('new.txt')]).toEqual([grown, 'new\n']);
  });

  it('come in after an apply that was killed before them', async () => {
    const { run, text, dir, home } = await createGrownRun();
    const gitDir = repositoryOf(home, 'my-run');
    const applied = await readRef(gitDir, 'refs/planwave/applied');
    await moveRef(gitDir, 'refs/planwave/applying', applied ?? '', null);
    rmSync(join(gitDir, 'refs', 'planwave', 'applied'));
    put(dir, { 'a.txt': files['a.txt'] });
    expect(await applyChanges(run)).toMatchObject({ state: 'done' });
    expect([text('a.txt'), text('new.txt')]).toEqual([grown, 'new\n']);
    await undoChanges(run, 1_700_000_000);
    expect(userGit(dir, 'status', '--porcelain')).toBe('');
  });
});

it('a run without changes has nothing to apply', async () => {
  const { run, dir } = await createRun({});
  expect([
    await diffRun(run),
    await applyChanges(run),
    await undoChanges(run, 1_700_000_000),
  ]).toEqual(['', { state: 'nothing' }, { state: 'nothing' }]);
  writeFileSync(join(dir, 'b.txt'), 'x');
});

it('results of a plan’s agents stay in the worktrees; every other file below agents/ is brought in', async () => {
  const results = 'agents/facts_agent/task_output';
  const users = { 'agents/own.md': 'own\n', 'agents/old_agent/task_output/kept.md': 'kept\n' };
  const fixture = createGitFixture({ ...files, ...users });
  const { home, dir } = fixture;
  const worker = { delegation_id: 'facts', foundations: [] };
  const worktrees = createGitWorktrees(fixture);
  put((await worktrees.open({ run_id: 'my-run', dir, worker })) ?? '', {
    [`${results}/facts.md`]: 'facts\n',
    [`${results}/more/“costs”.md`]: 'costs\n',
    'agents/facts_agent/notes.md': 'notes\n',
    'agents/own.md': 'changed\n',
    'agents/old_agent/task_output/kept.md': 'changed\n',
    'agents/old_agent/task_output/new.md': 'new\n',
  });
  const results_folders = [results, 'agents/old_agent/task_output', 'agents/none/task_output'];
  const run = { home, run_id: 'my-run', dir, delegation_ids: ['facts'], results_folders };
  expect(await diffRun(run)).not.toContain(results);
  const [proposed, all] = await Promise.all([
    createRunChanges(fixture).propose(run),
    diffOf(home, 'my-run', 'facts'),
  ]);
  expect(proposed).toMatchObject({ files_total: 4, obstacle: '' });
  expect(proposed?.patch).not.toContain(results);
  expect(all).toContain(`${results}/facts.md`);
  const applied = [
    { change: 'added', path: 'agents/facts_agent/notes.md' },
    { change: 'changed', path: 'agents/old_agent/task_output/kept.md' },
    { change: 'added', path: 'agents/old_agent/task_output/new.md' },
    { change: 'changed', path: 'agents/own.md' },
  ];
  expect(await applyChanges(run)).toEqual({ state: 'done', files: applied });
  expect(readdirSync(join(dir, 'agents/facts_agent'))).toEqual(['notes.md']);
  // What builds on the work finds its results.
  const next = { delegation_id: 'advice', foundations: ['facts'] };
  const copy = await worktrees.open({ run_id: 'my-run', dir, worker: next });
  expect(readFileSync(join(copy ?? '', results, 'facts.md'), 'utf8')).toBe('facts\n');
  expect(await undoChanges(run, 1_700_000_000)).toMatchObject({ state: 'done' });
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  expect(readdirSync(repositoryOf(home, 'my-run')).filter((name) => /-.*index/.test(name))).toEqual(
    ['user-folder.index'],
  );
});

it('a run that has written nothing but results has no changes to bring in', async () => {
  const { run } = await createRun({ facts: { 'agents/facts_agent/task_output/facts.md': 'f\n' } });
  const plain = { ...run, results_folders: ['agents/facts_agent/task_output'] };
  expect(await createRunChanges(run).propose(plain)).toBeNull();
  expect(await applyChanges(plain)).toEqual({ state: 'nothing' });
});
