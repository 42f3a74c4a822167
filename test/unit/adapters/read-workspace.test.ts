import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { WorkspaceRefused } from '../../../activities/ports/workspaces.ts';
import type { SearchOrder, WorkspacePlace } from '../../../activities/ports/workspaces.ts';
import { NoFile } from '../../../activities/adapters/workspaces/open-file.ts';
import { descend } from '../../../activities/adapters/workspaces/open-folder.ts';
import { engineLimits } from '../../../core/limits.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { listSpared } from '../../../activities/adapters/workspaces/readable-paths.ts';
import { runRipgrep } from '../../../activities/adapters/workspaces/ripgrep.ts';
import { parseIgnoreFile } from '../../../core/effects/ignored-paths.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { property } from '../core/builders.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

/** A project with ignored and private files, the artifact home inside it, and a secret beside it. */
function createProject() {
  const dir = join(at.outside, 'project');
  const put = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  };
  put('.gitignore', 'dist/\n*.log\n');
  put('src/price.ts', 'export const price = 10;\n');
  put('src/deep/er/tax.ts', 'export const tax = 2; // price\n');
  put('.github/ci.yml', 'price: 1\n');
  put('dist/price.js', 'price\n');
  put('debug.log', 'price\n');
  put('.env', 'KEY=price\n');
  put('.git/config', 'price\n');
  put('home/objects/x', 'price\n');
  writeFileSync(join(at.outside, 'secret.txt'), 'price secret\n');
  const place: WorkspacePlace = { run_id: 'my-run', dir };
  return { dir, put, place, workspaces: fileWorkspaces(join(dir, 'home')) };
}

const order = (over: Partial<SearchOrder> = {}): SearchOrder => ({
  pattern: 'price',
  path: '',
  glob: null,
  ignoreCase: false,
  ...over,
});
const { signal } = new AbortController();

it('lists, reads and searches what belongs to the project', async () => {
  const { place, workspaces } = createProject();
  const { entries } = await workspaces.list(place, '', 3);
  expect(entries.map(({ path }) => path)).toEqual([
    '.github',
    '.github/ci.yml',
    '.gitignore',
    'src',
    'src/deep',
    'src/deep/er',
    'src/price.ts',
  ]);
  expect(await workspaces.read(place, 'src/price.ts')).toMatchObject({ bytes: 25 });
  const { matches } = await workspaces.search(place, order(), signal);
  expect(matches).toEqual([
    { path: '.github/ci.yml', line: 1, text: 'price: 1' },
    { path: 'src/deep/er/tax.ts', line: 1, text: 'export const tax = 2; // price' },
    { path: 'src/price.ts', line: 1, text: 'export const price = 10;' },
  ]);
  const inside = await workspaces.search(place, order({ path: 'src', glob: 'src/*.ts' }), signal);
  expect(inside.matches.map(({ path }) => path)).toEqual(['src/price.ts']);
});

it('a search heeds the ignore files of the workspace, also of a subfolder, and none above the workspace', async () => {
  const { put, place, workspaces } = createProject();
  put('../.gitignore', '*\n');
  put('.gitignore', '*.log\n/src/made/\n');
  put('src/made/price.ts', 'price\n');
  put('src/deep/.gitignore', '!kept.log\n');
  put('src/deep/kept.log', 'price\n');
  put('src/deep/other.log', 'price\n');
  const find = async (path: string) =>
    (await workspaces.search(place, order({ path }), signal)).matches.map((one) => one.path);
  const below = ['src/deep/er/tax.ts', 'src/deep/kept.log', 'src/price.ts'];
  expect(await find('src')).toEqual(below);
  expect(await find('')).toEqual(['.github/ci.yml', 'dist/price.js', ...below]);
});

it('a search in a subfolder does not read what the ignore files above it name', async () => {
  const { dir, put } = createProject();
  put('src/deep/er/node_modules/a.js', 'price\n');
  put('src/deep/er/tmp/b.js', 'price\n');
  put('src/made.js', 'price\n');
  put('src/made.ts', 'price\n');
  put('src/made{1}.ts', 'price\n');
  put('src/{a,b}.js', 'price\n');
  const lines = ['node_modules/', '/src/made*', '/src/deep/*/tmp', '*.{ts,js}', '/src/{a,b}.j[s{]'];
  const above = [parseIgnoreFile([], lines.join('\n'))];
  const asked: string[] = [];
  await runRipgrep(order(), {
    cwd: join(dir, 'src'),
    hidden: [],
    spared: await listSpared(['src'], above, async () => ['src/made.ts', 'src/made{1}.ts']),
    signal,
    redact: (all) => all,
    pathOf: async (inside) => {
      asked.push(inside);
      return null;
    },
  });
  expect(asked).toEqual(['deep/er/tax.ts', 'made.ts', 'made{1}.ts', 'price.ts']);
});

it('a search reads braces in its own ignore file, and then in those below, as git does', async () => {
  const { put, place, workspaces } = createProject();
  put('.gitignore', '*.{ts,js}\n/{a,b}.txt\n*.log\n/dist/\n');
  for (const path of ['{a,b}.txt', 'a.txt', 'x.log', 'src/a.txt']) put(path, 'price\n');
  put('src/deep/.gitignore', '!kept.log\n*.{md,txt}\n');
  for (const name of ['kept.log', 'other.log', 'a.md', 'a.{md,txt}'])
    put(`src/deep/${name}`, 'price\n');
  put('src/odd{1,2} [x]/.gitignore', '/made\n');
  for (const name of ['made', 'found']) put(`src/odd{1,2} [x]/${name}`, 'price\n');
  const find = async (path: string) =>
    (await workspaces.search(place, order({ path }), signal)).matches.map((one) => one.path);
  const deep = ['src/deep/a.md', 'src/deep/er/tax.ts', 'src/deep/kept.log'];
  const inside = ['src/a.txt', ...deep, 'src/odd{1,2} [x]/found', 'src/price.ts'];
  expect(await find('')).toEqual(['.github/ci.yml', 'a.txt', ...inside]);
  expect(await find('src/deep')).toEqual(deep);
});

it('a search in an ignored folder finds what may be read there', async () => {
  const { put, place, workspaces } = createProject();
  put('.gitignore', 'agents/\n');
  put('agents/a/task_output/price.md', 'price\n');
  put('agents/a/task_output/node_modules/x.js', 'price\n');
  const inside = order({ path: 'agents/a/task_output' });
  const { matches } = await workspaces.search(place, inside, signal);
  expect(matches.map(({ path }) => path)).toEqual(['agents/a/task_output/price.md']);
});

it('a search says when a file has more matches than are returned of it', async () => {
  const { put, place, workspaces } = createProject();
  put('many.txt', 'needle\n'.repeat(101));
  put('then.txt', 'needle\n'.repeat(100));
  const found = await workspaces.search(place, order({ pattern: 'needle' }), signal);
  expect([found.isCut, found.matches.length]).toEqual([true, 200]);
  const then = order({ pattern: 'needle', path: '', glob: 'then.txt' });
  expect((await workspaces.search(place, then, signal)).isCut).toBe(false);
});

it("RW1: private, ignored and the engine's own files stay closed to every way of asking", async () => {
  const { place, workspaces } = createProject();
  for (const path of ['.env', '.git/config', 'dist/price.js', 'debug.log', 'home/objects/x']) {
    await expect(workspaces.read(place, path)).rejects.toThrow(WorkspaceRefused);
  }
  for (const path of ['dist', '.git', 'home']) {
    await expect(workspaces.list(place, path, 1)).rejects.toThrow(WorkspaceRefused);
    await expect(workspaces.search(place, order({ path }), signal)).rejects.toThrow(
      WorkspaceRefused,
    );
  }
  for (const glob of ['.env', 'dist/**', '**/*.log', '.git/**', 'home/**', '!x']) {
    const { matches } = await workspaces.search(place, order({ glob }), signal);
    expect(matches.filter(({ path }) => /^(?:\.env|dist|\.git\/|home|.*log)/.test(path))).toEqual(
      [],
    );
  }
});

it('RW2: links, FIFOs, sockets and devices are neither followed nor waited for', async () => {
  const { dir, place, workspaces } = createProject();
  symlinkSync(at.outside, join(dir, 'away'));
  symlinkSync(join(at.outside, 'secret.txt'), join(dir, 'link.txt'));
  symlinkSync('/dev/zero', join(dir, 'zero'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const server = createServer().listen(join(dir, 'socket'));
  try {
    for (const path of [
      'away/secret.txt',
      'link.txt',
      'zero',
      'pipe',
      'socket',
      'src',
      '../secret.txt',
    ]) {
      await expect(workspaces.read(place, path)).rejects.toThrow(WorkspaceRefused);
      await expect(workspaces.write(place, path, 'x')).rejects.toThrow(WorkspaceRefused);
      await expect(workspaces.remove(place, path)).rejects.toThrow(WorkspaceRefused);
    }
    await expect(workspaces.list(place, 'away', 1)).rejects.toThrow(WorkspaceRefused);
    const { matches } = await workspaces.search(place, order({ pattern: 'secret' }), signal);
    expect(matches).toEqual([]);
    await expect(workspaces.search(place, order({ path: 'away' }), signal)).rejects.toThrow(
      WorkspaceRefused,
    );
  } finally {
    server.close();
  }
  expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('price secret\n');
});

it('OF1: a folder that is replaced by a link during the access leads nowhere else', async () => {
  const { dir } = createProject();
  const secret = join(at.outside, 'elsewhere');
  mkdirSync(secret);
  writeFileSync(join(secret, 'price.ts'), 'stolen');
  const swap = (name: string): void => {
    renameSync(join(dir, name), join(at.outside, 'moved'));
    symlinkSync(secret, join(dir, name));
  };
  // Between two steps of the descent.
  const onWay = async (_on: unknown, next: string): Promise<void> => {
    if (next === 'src') swap('src');
  };
  await expect(descend(dir, ['src'], { onWay })).rejects.toMatchObject({ code: 'ENOTDIR' });
  renameSync(join(at.outside, 'moved'), join(dir, 'source'));
  // After the descent: the open folder is still the one that was checked.
  const folder = await descend(dir, ['source']);
  swap('source');
  const file = folder.openFile('price.ts');
  expect(await file?.readAtMost(99)).toEqual(Buffer.from('export const price = 10;\n'));
  file?.close();
  folder.close();
});

it('OF2: a FIFO without a writer is refused at once', async () => {
  const { dir } = createProject();
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const folder = await descend(dir, []);
  expect(() => folder.openFile('pipe')).toThrow(NoFile);
  expect(folder.openFile('missing')).toBeNull();
  folder.close();
});

it('RW3: a huge file is refused, and many entries and matches are cut', async () => {
  const { put, place, workspaces } = createProject();
  put('huge.txt', Buffer.alloc(engineLimits.readFileBytesMax + 1, 'a'));
  await expect(workspaces.read(place, 'huge.txt')).rejects.toThrow(
    /more than 5000000 bytes, .* as a whole\. Try: some of its lines, by read_file/,
  );
  for (let file = 0; file < 15; file += 1) put(`many/${file}.txt`, 'needle\n'.repeat(100));
  const found = await workspaces.search(place, order({ pattern: 'needle' }), signal);
  expect(found).toMatchObject({ isCut: true });
  expect(found.matches).toHaveLength(engineLimits.searchMatchesMax);
  await expect(workspaces.search(place, order({ pattern: '(' }), signal)).rejects.toThrow(/Try: /);
});

it('lines of a file that is too large to be taken as a whole are read, and it is not searched', async () => {
  const { put, place, workspaces } = createProject();
  const text = `\uFEFF${'x'.repeat(99)}\r\n`.concat(`${'é'.repeat(999)}\n`.repeat(2_600), 'needle');
  put('huge.txt', text);
  const range = { from: 2_601, charsMax: 1_000, lineCharsMax: 5 };
  expect(await workspaces.readLines(place, 'huge.txt', range)).toEqual({
    sha256: createHash('sha256').update(text).digest('hex'),
    bytes: Buffer.byteLength(text),
    lines: [
      { text: 'ééééé', chars_left: 994 },
      { text: 'needl', chars_left: 1 },
    ],
    lines_total: 2_602,
  });
  const first = await workspaces.readLines(place, 'huge.txt', { ...range, from: 1, charsMax: 1 });
  expect(first.lines).toEqual([{ text: 'xxxxx', chars_left: 94 }]);
  const found = await workspaces.search(place, order({ pattern: 'needle' }), signal);
  expect(found.matches).toEqual([]);
});

it('a file that takes too long to read, or is no text, gives no lines', async () => {
  const { dir, put, place, workspaces } = createProject();
  put('long.txt', 'needle\n');
  truncateSync(join(dir, 'long.txt'), engineLimits.scannedFileBytesMax + 1);
  put('cut.txt', Buffer.from('é').subarray(0, 1));
  const range = { from: 1, charsMax: 9, lineCharsMax: 9 };
  await expect(workspaces.readLines(place, 'long.txt', range)).rejects.toThrow(
    /more than 50000000 bytes, .* Try: run_command.*"sed","-n","1,200p","long\.txt"/,
  );
  expect((await workspaces.readLines(place, 'cut.txt', range)).lines).toBeNull();
  const found = await workspaces.search(place, order({ pattern: 'needle' }), signal);
  expect(found.matches).toEqual([]);
});

it('a hard link is read, and a change of it leaves the other name alone', async () => {
  const { dir, place, workspaces } = createProject();
  linkSync(join(at.outside, 'secret.txt'), join(dir, 'same.txt'));
  await workspaces.write(place, 'same.txt', 'mine');
  await workspaces.remove(place, 'same.txt');
  expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('price secret\n');
});

it('names with line breaks and bytes that are no UTF-8 harm no listing and no search', async () => {
  const { dir, put, place, workspaces } = createProject();
  put('two\nlines.txt', 'needle\n');
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe])]), 'needle\n');
  put('binary.bin', Buffer.from([0, 1, 2, 0xff]));
  const { entries } = await workspaces.list(place, '', 1);
  expect(entries.map(({ path }) => path)).toContain('two\nlines.txt');
  await expect(workspaces.read(place, 'two\nlines.txt')).rejects.toThrow(WorkspaceRefused);
  expect((await workspaces.search(place, order({ pattern: 'needle' }), signal)).matches).toEqual(
    [],
  );
});

it('200 generated paths never reach anything outside of the workspace', async () => {
  const { dir, place, workspaces } = createProject();
  symlinkSync('..', join(dir, 'up'));
  symlinkSync(at.outside, join(dir, 'src/out'));
  const part = fc.constantFrom(
    '..',
    '.',
    '',
    'src',
    'up',
    'out',
    'secret.txt',
    'project',
    'deep',
    'price.ts',
    '/',
    '\\',
    '~',
    '\0',
    '.git',
  );
  const paths = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
  await fc.assert(
    fc.asyncProperty(paths, async (path) => {
      const [read, write] = await Promise.allSettled([
        workspaces.read(place, path),
        workspaces.write(place, path, 'mine'),
      ]);
      const content = read.status === 'fulfilled' ? read.value.content : new Uint8Array();
      expect(Buffer.from(content).toString()).not.toContain('secret');
      const errors = [read, write].flatMap((one) => (one.status === 'rejected' ? one.reason : []));
      expect(errors.filter((error) => !(error instanceof WorkspaceRefused))).toEqual([]);
      expect(readFileSync(join(at.outside, 'secret.txt'), 'utf8')).toBe('price secret\n');
    }),
    { ...property, numRuns: 200 },
  );
});

describe('files that the worker grants', () => {
  const readable = ['.env', '/dist/', '.git', 'home/**'];

  it('RW1: are read and listed although they are private or ignored, and no others', async () => {
    const { dir, place } = createProject();
    const workspaces = fileWorkspaces(join(dir, 'home'), undefined, undefined, readable);
    const isRead = async (path: string): Promise<boolean> => {
      const refused = await workspaces.read(place, path).catch((error: unknown) => error);
      if (refused instanceof Error && !(refused instanceof WorkspaceRefused)) throw refused;
      return !(refused instanceof WorkspaceRefused);
    };
    const paths = ['.env', 'dist/price.js', 'debug.log', '.git/config', 'home/objects/x'];
    expect(await Promise.all(paths.map(isRead))).toEqual([true, true, false, false, false]);
    const { entries } = await workspaces.list(place, '', 2);
    const listed = entries.map(({ path }) => path);
    expect(listed).toEqual(expect.arrayContaining(['.env', 'dist', 'dist/price.js']));
    for (const path of ['debug.log', '.git', 'home']) expect(listed).not.toContain(path);
    const { matches } = await workspaces.search(place, order(), signal);
    expect(matches.map(({ path }) => path)).not.toContain('.env');
  });

  it('come from the user’s folder where a delegation has a copy without them', async () => {
    const { home, dir } = createGitFixture({ '.gitignore': 'config/\n', 'a.js': 'a\n' });
    mkdirSync(join(dir, 'config'));
    writeFileSync(join(dir, 'config/local.json'), '{}');
    writeFileSync(join(dir, 'config/other.json'), '{}');
    const worktrees = createGitWorktrees({ home });
    const granting = fileWorkspaces(home, undefined, worktrees, ['config/local.json']);
    const worker = { delegation_id: 'fix', foundations: [] };
    const copy: WorkspacePlace = { run_id: 'my-run', dir, worker };
    expect((await granting.read(copy, 'config/local.json')).bytes).toBe(2);
    expect((await granting.read(copy, 'a.js')).bytes).toBe(2);
    await expect(granting.read(copy, 'config/other.json')).rejects.toThrow(WorkspaceRefused);
  });
});
