import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ExpectedError } from './expected-error.mjs';
import { lastLines, runCommand } from './run-command.mjs';

/**
 * @typedef {object} EnsureOptions
 * @property {NodeJS.ProcessEnv} [env] default: this process's environment
 * @property {boolean} [install] may install it with apt-get when root on a Debian-like system; default true
 * @property {(line: string) => void} [say] default: standard error
 */

/**
 * @typedef {object} TestProgram
 * @property {string} debianPackage
 * @property {string} purpose for people
 * @property {string} cure for people who have to install it themselves
 * @property {(env: NodeJS.ProcessEnv, tried: string[]) => Promise<string | undefined>} find adds to `tried` why it did not take
 *   what it looked at
 */

/**
 * Finds a program that only tests need, or installs it.
 *
 * @param {TestProgram} program
 * @param {EnsureOptions} options
 * @returns {Promise<string>} the result of `find`
 * @throws {ExpectedError} when there is none and none could be installed
 */
async function ensureProgram(
  { debianPackage, purpose, cure, find },
  { env = process.env, install = true, say = console.error },
) {
  /** @type {string[]} */
  const tried = [];
  const found = await find(env, tried);
  if (found !== undefined) return found;
  if (install && (await installWithApt(debianPackage, { env, tried, purpose, say }))) {
    const installed = await find(env, tried);
    if (installed !== undefined) return installed;
  }
  throw new ExpectedError(
    [
      `${purpose} was not found. What was tried:`,
      ...[...new Set(tried)].map((reason) => `  - ${reason}`),
      `What to do: ${cure}`,
    ].join('\n'),
  );
}

/**
 * Installs a Debian package, where that is possible without asking: as root on a Debian-like system.
 *
 * @param {string} name of the package
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string[]} options.tried gets the reason when it is not possible
 * @param {string} options.purpose of the package, for people
 * @param {(line: string) => void} options.say
 * @returns {Promise<boolean>}
 */
async function installWithApt(name, { env, tried, purpose, say }) {
  if (!existsSync('/etc/debian_version')) {
    tried.push('apt-get: this is not a Debian-like system');
    return false;
  }
  if (process.getuid?.() !== 0) {
    tried.push(`apt-get install ${name}: not root`);
    return false;
  }
  say(`Installing ${purpose} (apt-get install ${name}) …`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    const step = await runCommand('apt-get', args, {
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (!step.ok) {
      tried.push(`apt-get ${args[0]}: ${step.reason}\n${lastLines(step.output, 2)}`);
      return false;
    }
  }
  return true;
}

const namesOnPath = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** macOS applications are not on PATH. */
const macPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Finds Chromium for the test that looks at the Temporal Web UI.
 *
 * @param {EnsureOptions} [options]
 * @returns {Promise<string>} path or command name
 */
export function ensureChromium(options = {}) {
  return ensureProgram(
    {
      debianPackage: 'chromium',
      purpose: 'Chromium for the Web UI test',
      cure: 'install Chromium or Chrome so that it is on PATH, or name it: PLANWAVE_CHROMIUM=/path/to/chromium',
      find: findChromium,
    },
    options,
  );
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} tried
 * @returns {Promise<string | undefined>}
 */
async function findChromium(env, tried) {
  const named = env['PLANWAVE_CHROMIUM'];
  const installed =
    process.platform === 'darwin' ? macPaths.filter((path) => existsSync(path)) : [];
  for (const candidate of [...(named ? [named] : []), ...namesOnPath, ...installed]) {
    const result = await runCommand(candidate, ['--version'], { env, timeoutMs: 30_000 });
    if (result.ok) return candidate;
    tried.push(
      candidate === named ? `PLANWAVE_CHROMIUM=${named}: ${result.reason}` : result.reason,
    );
  }
  return undefined;
}

/** Debian keeps the programs of each version in a folder of its own, and none of them on PATH. */
const debianFolder = '/usr/lib/postgresql';

/**
 * Finds PostgreSQL for the tests of threads in a database. A package that brings a server of its own would be downloaded by
 * everybody who starts planwave, and needs a script at its installation that npm no longer runs unasked.
 *
 * @param {EnsureOptions & { root?: string }} [options] `root` holds a folder for each version, as Debian's does; default
 *   Debian's
 * @returns {Promise<string>} the folder with `initdb` and `postgres`
 */
export function ensurePostgres({ root = debianFolder, ...options } = {}) {
  return ensureProgram(
    {
      debianPackage: 'postgresql',
      purpose: 'PostgreSQL for the tests of threads',
      cure: 'install a PostgreSQL server, or name the folder of its programs: PLANWAVE_POSTGRES=/path/to/bin',
      find: (env, tried) => findPostgres(env, root, tried),
    },
    options,
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
    tried.push(result.reason);
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

/**
 * Finds bubblewrap for the tests of agents' commands.
 *
 * @returns {Promise<string>} the version
 */
export function ensureBubblewrap() {
  return ensureProgram(
    {
      debianPackage: 'bubblewrap',
      purpose: "bubblewrap for the tests of agents' commands",
      cure: 'apt install bubblewrap, version 0.8.0 or newer',
      async find(env, tried) {
        const result = await runCommand('bwrap', ['--version'], { env, timeoutMs: 30_000 });
        if (!result.ok) tried.push(result.reason);
        return result.ok ? result.output.trim() : undefined;
      },
    },
    {},
  );
}
