import { lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { treePaths, toRunDirectory } from '../../../activities/projection/paths.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { createFolder, createHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';

const hostileIds = [
  '../escaped',
  '..',
  '.',
  './x',
  'a/../../escaped',
  '/etc/passwd',
  'C:\\Windows',
  '\\\\server\\share',
  'a\0b',
  'a\nb',
  'con',
  'CON',
  'nul.txt',
  'com1',
  'lpt9',
  'segments',
  'refs',
  'effects',
  'shared',
  'written',
  'blocked',
  'Run',
  'RUN',
  'run.',
  'run ',
  ' run',
  'caf\u00e9',
  'cafe\u0301',
  '\ud800',
  '\udc00',
  '\u202eevil',
  '~',
  'a~b',
  '-rf',
  '$HOME',
  'x'.repeat(1_000),
  `${'x'.repeat(999)}y`,
  '任务',
];

it('fault 51, FP1: whatever a run is called, all it writes is below its own folder', async () => {
  const outer = await createFolder();
  const home = join(outer, 'home');
  const writer = createFileProjection({ home });
  for (const [index, id] of hostileIds.entries()) {
    await writer.write(id, treePaths.pool, `${index}`);
  }
  expect(await readdir(outer)).toEqual(['home']);
  const tree = await readTree(home);
  const expected = hostileIds.map((id, index) => [`${writer.rootOf(id)}/pool.jsonl`, `${index}`]);
  expect(tree).toEqual(Object.fromEntries(expected));
  expect(Object.keys(tree)).toHaveLength(hostileIds.length);
});

it('fault 51: twins in case and Unicode have folders that differ on every file system', () => {
  const names = ['run', ...hostileIds].map(toRunDirectory);
  const folded = new Set(names.map((name) => name.normalize('NFKC').toLowerCase()));
  expect(folded.size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9_~-]{0,63}$/);
  expect(toRunDirectory('run')).toBe('run');
  // A prune removes the folder of its run.
  for (const id of ['segments', 'shared', 'written', 'blocked']) {
    expect(toRunDirectory(id)).toMatch(/~/);
  }
  expect(toRunDirectory('Team/A Run')).toMatch(/^team-a-run~[0-9a-f]{32}$/);
});

it('fault 51: no name can pose as the encoding of another', () => {
  const encoded = toRunDirectory('../escaped');
  expect(toRunDirectory(encoded)).not.toBe(encoded);
});

it('fault 51: runs with hostile names are recorded, projected and exported like others', async () => {
  const harness = await createHarness();
  for (const id of hostileIds) {
    const run = await harness.begin(id);
    await run.apply({ type: 'instruction', instruction: 'Use metric units' });
    const before = await readTree(join(harness.home, harness.deps.projection.rootOf(id)));
    expect(JSON.parse(before['shared_status.json'] ?? '')).toMatchObject({ status: 'in_progress' });
    expect(await exportRun(harness.deps, id)).toMatchObject({ files: 4 });
  }
  const listed = await readdir(harness.home);
  const roots = hostileIds.map((id) => harness.deps.projection.rootOf(id));
  expect(listed.toSorted()).toEqual([...roots, 'segments', 'refs'].toSorted());
});

const outside = async (): Promise<{ home: string; victim: string }> => {
  const outer = await createFolder();
  const home = join(outer, 'home');
  const victim = join(outer, 'victim');
  await mkdir(home);
  await mkdir(victim);
  await writeFile(join(victim, 'pool.jsonl'), 'untouched');
  return { home, victim };
};

describe('fault 51: symbolic links', () => {
  const untouched = { 'pool.jsonl': 'untouched' };

  it("fault 51: a run's folder that is a link is refused, with the cure", async () => {
    const { home, victim } = await outside();
    await symlink(victim, join(home, 'my-run'));
    const writer = createFileProjection({ home });
    const refused = { name: 'StoreUnavailable', message: expect.stringContaining('symbolic link') };
    await expect(writer.write('my-run', 'pool.jsonl', 'x')).rejects.toMatchObject(refused);
    await expect(writer.remove('my-run', 'pool.jsonl')).rejects.toMatchObject(refused);
    expect(await readTree(victim)).toEqual(untouched);
  });

  it('fault 51: a folder inside that is a link, dangling or not, is refused', async () => {
    const { home, victim } = await outside();
    await mkdir(join(home, 'my-run'));
    await symlink(victim, join(home, 'my-run', 'waves'));
    await symlink(join(victim, 'nothing'), join(home, 'my-run', 'agents'));
    const writer = createFileProjection({ home });
    const write = (path: string): Promise<void> => writer.write('my-run', path, 'x');
    await expect(write(treePaths.waveCompact(1))).rejects.toThrow('symbolic link');
    await expect(write(treePaths.taskOutput('writer', 'draft'))).rejects.toThrow('symbolic link');
    expect(await readTree(victim)).toEqual(untouched);
  });

  it('fault 51: a file that is a link, dangling or not, is replaced and never followed', async () => {
    const { home, victim } = await outside();
    const dir = join(home, 'my-run');
    await mkdir(dir);
    await symlink(join(victim, 'pool.jsonl'), join(dir, 'pool.jsonl'));
    await symlink(join(victim, 'nothing'), join(dir, 'result.md'));
    const writer = createFileProjection({ home });
    await writer.write('my-run', 'pool.jsonl', 'new');
    await writer.write('my-run', 'result.md', 'new');
    expect(await readTree(victim)).toEqual(untouched);
    expect((await lstat(join(dir, 'pool.jsonl'))).isFile()).toBe(true);
    expect((await lstat(join(dir, 'result.md'))).isFile()).toBe(true);
  });

  it('fault 51: removing a link removes the link', async () => {
    const { home, victim } = await outside();
    await mkdir(join(home, 'my-run'));
    await symlink(join(victim, 'pool.jsonl'), join(home, 'my-run', 'pool.jsonl'));
    await createFileProjection({ home }).remove('my-run', 'pool.jsonl');
    expect(await readdir(join(home, 'my-run'))).toEqual([]);
    expect(await readTree(victim)).toEqual(untouched);
  });
});

it.each(['../x', '/x', 'a/../x', 'a//x', './x', '', 'a\\x', 'a\0', 'A', '.x', 'x.', 'é'])(
  'fault 51: the path %j in a tree is refused',
  async (path) => {
    const home = await createFolder();
    const writer = createFileProjection({ home });
    await expect(writer.write('my-run', path, 'x')).rejects.toThrow("no path of a run's tree");
    await expect(writer.remove('my-run', path)).rejects.toThrow("no path of a run's tree");
    expect(await readdir(home)).toEqual([]);
  },
);

const noSlugs = ['../x', 'A', 'é', '', 'a/b', '.', '..', 'a.', '.a', 'a..b', 'x'.repeat(41)];

it.each([...noSlugs, 'a.b'])('fault 51: the id %j never names a file', (id) => {
  expect(() => treePaths.taskOutput(id, 'draft')).toThrow('no slug');
  expect(() => treePaths.taskOutput('writer', id)).toThrow('no slug');
  expect(() => treePaths.currentSession(id)).toThrow('no slug');
  expect(() => treePaths.endedSession(id, 'Move', 0)).toThrow('no slug');
});

it.each(noSlugs)('fault 51: the id %j never names a folder of a triad', (id) => {
  expect(() => treePaths.triadPhase(id, 'execute')).toThrow('no slug');
});

it('an ended session is named after its end in UTC and its task', () => {
  expect(treePaths.endedSession('fact_agent', '../A small: Backup!', 1_727_539_259)).toBe(
    'agents/fact_agent/completion_drive/session_20240928_1600_a_small_backup.json',
  );
});

it('fault 51: the task of a team has its own files, with dots between its names', () => {
  expect(treePaths.triadPhase('design.d2', 'deliberate')).toBe('triads/design.d2/deliberate.md');
  expect(treePaths.triadPhase('a.con.b', 'deliberate')).toMatch(
    /^triads\/a\.con~[0-9a-f]{32}\.b\/deliberate\.md$/,
  );
});

it('fault 51: ids that Windows takes for devices are encoded', () => {
  expect(treePaths.taskOutput('con', 'nul')).toMatch(
    /^agents\/con~[0-9a-f]{32}\/task_output\/nul~[0-9a-f]{32}\.md$/,
  );
});

it.each([-1, 1.5, Number.NaN])('refuses %d as the number of a wave', (wave) => {
  expect(() => treePaths.waveCompact(wave)).toThrow('no wave number');
});
