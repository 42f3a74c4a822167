import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages } from '../../../scripts/bootstrap/ensure-packages.mjs';
import { makeFolder } from './fake-executables.ts';

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
}

const silent = (): void => {};

/** npm that keeps to itself and finds no registry. */
function npmEnv(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_cache: makeFolder(),
    npm_config_fetch_retries: '0',
  };
}

function makeProject(
  packages: Record<string, LockEntry> = {},
  dependencies: Record<string, string> = {},
): string {
  const root = makeFolder();
  const manifest = { name: 'project', version: '1.0.0', dependencies };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeLock(join(root, 'package-lock.json'), { '': manifest, ...packages });
  return root;
}

function writeLock(path: string, packages: Record<string, LockEntry>): void {
  const lock = { name: 'project', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  writeFileSync(path, JSON.stringify(lock));
}

/** Creates the files that a manual `npm ci` leaves behind. */
function pretendInstalled(root: string, packages: Record<string, LockEntry>): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeLock(join(root, 'node_modules', '.package-lock.json'), packages);
}

const stampOf = (root: string): string => join(root, 'node_modules', '.planwave-lock');

it('installs when node_modules is missing, and only then', async () => {
  const root = makeProject();
  expect(await ensurePackages({ root, env: npmEnv(), say: silent })).toBe('installed');
  expect(await ensurePackages({ root, env: npmEnv(), say: silent })).toBe('ready');
});

it('installs again when package-lock.json has changed', async () => {
  const root = makeProject();
  await ensurePackages({ root, env: npmEnv(), say: silent });
  const stamp = readFileSync(stampOf(root), 'utf8');
  writeFileSync(
    join(root, 'package-lock.json'),
    `${readFileSync(join(root, 'package-lock.json'), 'utf8')}\n`,
  );
  expect(await ensurePackages({ root, env: npmEnv(), say: silent })).toBe('installed');
  expect(readFileSync(stampOf(root), 'utf8')).not.toBe(stamp);
});

it('two commands at once install once', async () => {
  const root = makeProject();
  const said: string[] = [];
  const say = (line: string): void => {
    said.push(line);
  };
  const outcomes = await Promise.all([
    ensurePackages({ root, env: npmEnv(), say }),
    ensurePackages({ root, env: npmEnv(), say }),
  ]);
  expect(outcomes.toSorted()).toEqual(['installed', 'ready']);
  expect(said.filter((line) => line.startsWith('Installing'))).toHaveLength(1);
});

it('takes packages that were installed by hand and match the lock', async () => {
  const packages = { 'node_modules/left': { version: '1.0.0' } };
  const root = makeProject(packages);
  pretendInstalled(root, packages);
  expect(await ensurePackages({ root, dev: true, env: npmEnv(), say: silent })).toBe('adopted');
  expect(await ensurePackages({ root, dev: true, env: npmEnv(), say: silent })).toBe('ready');
});

it('needs developer packages for tests only', async () => {
  const left = { 'node_modules/left': { version: '1.0.0' } };
  const root = makeProject({ ...left, 'node_modules/tool': { version: '1.0.0', dev: true } });
  pretendInstalled(root, left);
  expect(await ensurePackages({ root, env: npmEnv(), say: silent })).toBe('adopted');
  expect(existsSync(stampOf(root))).toBe(false);
});

it('says what was tried and what to do when there is no network', async () => {
  const entry = {
    version: '1.0.0',
    resolved: 'http://127.0.0.1:9/left.tgz',
    integrity: 'sha512-AA==',
  };
  const root = makeProject({ 'node_modules/left': entry }, { left: '1.0.0' });
  const installing = ensurePackages({ root, env: npmEnv(), say: silent });
  await expect(installing).rejects.toThrow(
    /could not be installed.*Tried: npm ci\..*npm error.*What to do: check the network/s,
  );
  expect(existsSync(join(root, '.cache', 'install.lock'))).toBe(false);
});

it('installs from a lock that leaves out an optional package the registry does not have', async () => {
  const root = makeProject();
  const manifest = {
    name: 'project',
    version: '1.0.0',
    optionalDependencies: { 'other-platform': '1.0.0' },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeLock(join(root, 'package-lock.json'), { '': manifest });
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  expect(await ensurePackages({ root, env: npmEnv(), say: silent })).toBe('installed');
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).toBe(lock);
});

it('says so when there is no npm', async () => {
  const root = makeProject();
  const env = { PATH: makeFolder() };
  const installing = ensurePackages({ root, env, say: silent });
  await expect(installing).rejects.toThrow('npm is not on PATH');
  rmSync(root, { recursive: true });
});
