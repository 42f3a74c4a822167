import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExpectedError } from './expected-error.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { withLock } from './with-lock.mjs';

/** The oldest Node the packages and the developer tools run on. */
export const nodeVersionMin = '20.19.0';

/**
 * @param {string} left three numbers with dots; a leading `v` and a suffix are ignored
 * @param {string} right the same
 * @returns {number} negative when `left` is older, 0 when equal, positive when newer
 */
export function compareVersions(left, right) {
  const a = versionParts(left);
  const b = versionParts(right);
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/**
 * @param {string} version
 * @returns {[number, number, number]}
 */
function versionParts(version) {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : [0, 0, 0];
}

/**
 * @param {string} [version] default: the Node that runs
 * @throws {ExpectedError} when it is too old
 */
export function checkNode(version = process.versions.node) {
  if (compareVersions(version, nodeVersionMin) >= 0) return;
  throw new ExpectedError(
    `planwave needs Node ${nodeVersionMin} or newer; this is Node ${version} (${process.execPath}).\n` +
      'Install a current Node LTS release, for example with a version manager: nvm install 20',
  );
}

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {Record<string, string>} [optionalDependencies]
 */

/**
 * Installs the packages when they are missing or belong to another package-lock.json. Packages that were installed by
 * hand and match the lock are taken as they are.
 *
 * @param {object} options
 * @param {string} options.root the folder that holds package.json
 * @param {boolean} [options.dev] developer packages are needed too (tests); default false
 * @param {NodeJS.ProcessEnv} [options.env] default: this process's environment
 * @param {(line: string) => void} [options.say] default: standard error
 * @returns {Promise<'ready' | 'adopted' | 'installed'>} what was done; `adopted`: they were there, installed by hand
 * @throws {ExpectedError} when the installation failed
 */
export async function ensurePackages({
  root,
  dev = false,
  env = process.env,
  say = console.error,
}) {
  const state = await readState(root, dev);
  if (state !== 'missing') return state;
  // The lock lies outside node_modules because `npm ci` removes that folder.
  const lock = join(root, '.cache', 'install.lock');
  return withLock(
    lock,
    async () => {
      const stateNow = await readState(root, dev);
      if (stateNow !== 'missing') return stateNow;
      await install(root, env, say);
      await writeStamp(root);
      return 'installed';
    },
    say,
  );
}

/**
 * @param {string} root
 * @param {boolean} dev
 * @returns {Promise<'ready' | 'adopted' | 'missing'>}
 */
async function readState(root, dev) {
  const stamp = await readFile(stampPath(root), 'utf8').catch(() => '');
  if (stamp.trim() === (await computeStamp(root))) return 'ready';
  if (!(await matchesLock(root, dev))) return 'missing';
  // Without the developer packages there is no stamp: a later `npm test` has to look again.
  if (await matchesLock(root, true)) await writeStamp(root).catch(() => {});
  return 'adopted';
}

/**
 * @param {string} root
 * @returns {string}
 */
function stampPath(root) {
  return join(root, 'node_modules', '.planwave-lock');
}

/**
 * The platform belongs to the stamp because some packages hold native code, and a folder may be shared with a container.
 *
 * @param {string} root
 * @returns {Promise<string>}
 */
async function computeStamp(root) {
  const lock = await readFile(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  return `${hash} ${process.platform}-${process.arch}`;
}

/** @param {string} root */
async function writeStamp(root) {
  await mkdir(join(root, 'node_modules'), { recursive: true });
  await writeFile(stampPath(root), `${await computeStamp(root)}\n`);
}

/**
 * Compares npm's own record of what it installed with the lock. npm writes that record last, so an installation that
 * was interrupted does not match.
 *
 * @param {string} root
 * @param {boolean} dev
 * @returns {Promise<boolean>}
 */
async function matchesLock(root, dev) {
  // A stamp that differs means the packages were installed by us for another lock or platform.
  if (existsSync(stampPath(root))) return false;
  const wanted = await readLockedPackages(join(root, 'package-lock.json'));
  const installed = await readLockedPackages(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found !== undefined) return found.version === entry.version;
    return entry.optional || entry.devOptional || (entry.dev && !dev);
  });
}

/**
 * @param {string} path
 * @returns {Promise<Record<string, LockedPackage> | undefined>} undefined when the file is missing or broken
 */
async function readLockedPackages(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} say
 */
async function install(root, env, say) {
  say('Installing packages (npm ci) …');
  const ci = await runNpm(root, env, 'ci');
  if (ci.ok) return;
  const reason = explainFailure('npm ci', ci);
  if (!(await lacksOptionalPackagesOnly(root, ci.output))) throw installFailed(root, [reason]);
  // A registry that does not carry the packages of other platforms leaves them out of the lock, and newer npm refuses
  // such a lock. The locked versions are the same either way, and `--no-save` leaves the lock alone.
  say('npm ci refused the lock for optional packages of other platforms; trying npm install …');
  const plain = await runNpm(root, env, 'install', '--no-save');
  if (!plain.ok)
    throw installFailed(root, [reason, explainFailure('npm install --no-save', plain)]);
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @param {...string} command
 */
function runNpm(root, env, ...command) {
  const options = ['--prefer-offline', '--include=dev', '--no-audit', '--no-fund'];
  // `npm --silent start` hands its silence down, and then a failure would have no reason.
  const args = [...command, ...options, '--loglevel=error'];
  // The npm that started this command is the one the user means; on Windows `npm` is a shell script.
  const cli = env['npm_execpath'];
  return cli?.endsWith('.js')
    ? runCommand(process.execPath, [cli, ...args], { cwd: root, env })
    : runCommand('npm', args, { cwd: root, env, shell: process.platform === 'win32' });
}

/**
 * @param {string} root
 * @param {string} output of `npm ci`
 * @returns {Promise<boolean>} true when all it complains about is that optional packages are not in the lock
 */
async function lacksOptionalPackagesOnly(root, output) {
  const complaints = output.split('\n').filter((line) => /(Missing|Invalid): /.test(line));
  const packages = await readLockedPackages(join(root, 'package-lock.json'));
  const optional = new Set(
    Object.values(packages ?? {}).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {})),
  );
  const isOptional = (/** @type {string} */ line) => {
    const name = /Missing: (\S+)@[^\s@]* from lock file/.exec(line)?.[1];
    return name !== undefined && optional.has(name);
  };
  return complaints.length > 0 && complaints.every(isOptional);
}

/**
 * @param {string} command
 * @param {import('./run-command.mjs').CommandResult} result
 * @returns {string}
 */
function explainFailure(command, result) {
  // npm names the cause first and ends with hints for its own use.
  const errors = result.output.split('\n').filter((line) => /^npm error \S/.test(line));
  const said = errors.length > 0 ? errors.slice(0, 10).join('\n') : lastLines(result.output, 5);
  return `Tried: ${command}. Reason: ${result.reason}${said === '' ? '' : `\n${said}`}`;
}

/**
 * @param {string} root
 * @param {string[]} reasons
 * @returns {ExpectedError}
 */
function installFailed(root, reasons) {
  return new ExpectedError(
    [
      `The packages could not be installed in ${root}`,
      ...reasons,
      'What to do: check the network and `npm config get registry` (behind a proxy also `npm config get proxy`), then',
      'run the same command again. Without a network, copy node_modules from a machine that has it and the same lock.',
    ].join('\n'),
  );
}
