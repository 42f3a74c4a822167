import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { compareVersions } from './ensure-packages.mjs';
import { lastLines, runCommand } from './run-command.mjs';

/** The version planwave is measured with. An older one is slower to start and needs one more server setting. */
export const cliVersionPreferred = '1.9.1';
/** The oldest version that works. */
export const cliVersionMin = '1.5.1';

/**
 * Runs `<path> --version`.
 *
 * @param {string} path the executable; a bare name is looked up on the PATH of `env`
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ version?: string, reason: string }>} `version` is undefined when it can't be used, `reason` says why
 */
export async function probeCli(path, env) {
  const result = await runCommand(path, ['--version'], { env, timeoutMs: 30_000 });
  if (!result.ok) {
    const said = lastLines(result.output, 1);
    return { reason: said === '' ? result.reason : `${result.reason}: ${said}` };
  }
  const version = /temporal version v?(\d+\.\d+\.\d+)/.exec(result.output)?.[1];
  if (version === undefined) {
    return { reason: `its --version is not Temporal's: ${lastLines(result.output, 1)}` };
  }
  if (compareVersions(version, cliVersionMin) < 0) {
    return { reason: `version ${version} is too old, ${cliVersionMin} or newer is needed` };
  }
  return { version, reason: '' };
}

/**
 * @param {string} version
 * @returns {boolean} true when it is at least the version planwave is measured with
 */
export function isPreferred(version) {
  return compareVersions(version, cliVersionPreferred) >= 0;
}

/** The file name of the CLI on this platform. */
export const cliFileName = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/**
 * The folder that clean clones share, so that a download is paid once per machine.
 *
 * @param {NodeJS.ProcessEnv} env `PLANWAVE_CACHE` wins over the user's cache folder
 * @returns {string}
 */
export function cacheDir(env) {
  if (env['PLANWAVE_CACHE']) return env['PLANWAVE_CACHE'];
  const home = env['HOME'] ?? homedir();
  if (process.platform === 'win32') {
    return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'planwave', 'Cache');
  }
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'planwave');
  return join(env['XDG_CACHE_HOME'] ?? join(home, '.cache'), 'planwave');
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} where the copies of the CLI lie, one folder per version and platform
 */
export function cliCacheDir(env) {
  return join(cacheDir(env), 'temporal-cli');
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string[]>} paths of the copies for this platform, newest version first
 */
export async function listCachedClis(env) {
  const dir = cliCacheDir(env);
  const suffix = platformSuffix();
  const names = await readdir(dir).catch(() => []);
  return names
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted((left, right) => compareVersions(right, left))
    .map((name) => join(dir, name, cliFileName));
}

/**
 * Puts a freshly fetched CLI into the cache: it is tried first, and appears under its final name only when it runs.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {(workDir: string) => Promise<string>} fetchInto fetches into `workDir` and returns the path of the CLI there
 * @returns {Promise<{ path: string, version: string }>}
 * @throws {Error} with the reason, when fetching failed or what came does not run
 */
export async function addToCache(env, fetchInto) {
  const dir = cliCacheDir(env);
  await mkdir(dir, { recursive: true });
  const workDir = await mkdtemp(join(dir, '.fetch-'));
  try {
    const fetched = await fetchInto(workDir);
    await chmod(fetched, 0o755);
    const probe = await probeCli(fetched, env);
    if (probe.version === undefined) throw new Error(`what came does not run: ${probe.reason}`);
    const clean = join(workDir, 'clean');
    await mkdir(clean);
    await rename(fetched, join(clean, cliFileName));
    const target = join(dir, `${probe.version}${platformSuffix()}`);
    // A copy that is there already did not run, or it would have been taken.
    await rm(target, { recursive: true, force: true });
    await rename(clean, target);
    return { path: join(target, cliFileName), version: probe.version };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** @returns {string} */
function platformSuffix() {
  return `-${process.platform}-${process.arch}`;
}
