import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ExpectedError } from './expected-error.mjs';
import { installWithApt } from './install-with-apt.mjs';
import { runCommand } from './run-command.mjs';

/** Debian keeps the programs of each version in a folder of its own, and none of them on PATH. */
const debianFolder = '/usr/lib/postgresql';

/**
 * @typedef {object} PostgresOptions
 * @property {NodeJS.ProcessEnv} [env] default: this process's environment
 * @property {boolean} [install] may install it with apt-get when root on a Debian-like system; default true
 * @property {string} [root] holds a folder for each version, as Debian's does; default Debian's
 * @property {(line: string) => void} [say] default: standard error
 */

/**
 * Finds PostgreSQL for the tests of threads in a database. A package that brings a server of its own would be downloaded by
 * everybody who starts planwave, and needs a script at its installation that npm no longer runs unasked.
 *
 * @param {PostgresOptions} [options]
 * @returns {Promise<string>} the folder with `initdb` and `postgres`
 * @throws {ExpectedError} when there is none and none could be installed
 */
export async function ensurePostgres({
  env = process.env,
  install = true,
  root = debianFolder,
  say = console.error,
} = {}) {
  /** @type {string[]} */
  const tried = [];
  const found = await findPostgres(env, root, tried);
  if (found !== undefined) return found;
  const purpose = 'PostgreSQL for the tests of threads';
  if (install && (await installWithApt('postgresql', { env, tried, purpose, say }))) {
    const installed = await findPostgres(env, root, tried);
    if (installed !== undefined) return installed;
  }
  throw new ExpectedError(
    [
      'No PostgreSQL was found for the tests of threads. What was tried:',
      ...tried.map((reason) => `  - ${reason}`),
      'What to do: install a PostgreSQL server, or name the folder of its programs: PLANWAVE_POSTGRES=/path/to/bin',
    ].join('\n'),
  );
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} root
 * @param {string[]} tried
 * @returns {Promise<string | undefined>}
 */
async function findPostgres(env, root, tried) {
  const named = env['PLANWAVE_POSTGRES'];
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '');
  for (const dir of [...(named ? [named] : []), ...onPath, ...versionFolders(root)]) {
    if (!existsSync(join(dir, 'initdb'))) {
      if (dir === named) tried.push(`PLANWAVE_POSTGRES=${named}: it has no initdb`);
      continue;
    }
    const result = await runCommand(join(dir, 'postgres'), ['--version'], {
      env,
      timeoutMs: 30_000,
    });
    if (result.ok) return dir;
    if (!tried.includes(result.reason)) tried.push(result.reason);
  }
  tried.push(`initdb and postgres: neither on PATH nor in ${root}`);
  return undefined;
}

/**
 * @param {string} root
 * @returns {string[]} the newest version first
 */
function versionFolders(root) {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}
