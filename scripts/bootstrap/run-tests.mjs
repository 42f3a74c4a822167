import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureBubblewrap, ensureChromium, ensurePostgres } from './test-programs.mjs';
import { describeError } from './expected-error.mjs';
import { runCommand } from './run-command.mjs';
import { describeCli, findTemporalCli } from './find-temporal-cli.mjs';

/** npm scripts that run before the tests, in this order. */
const checks = ['format:check', 'lint', 'typecheck', 'unused'];

/** Seconds that a test file outside of `test/slow` takes at most, in a run of all of them on two cores. */
const fileSecondsMax = 40;

/**
 * Runs every check and all tests but the slow ones, and prints what failed and the totals at the end. A failed check does
 * not stop the rest: one run shows everything that has to be repaired.
 *
 * @param {string} root the folder that holds package.json
 * @param {readonly string[]} vitestArgs when there are any, only vitest runs, with them and with all of its projects
 * @returns {Promise<number>} the exit code
 */
export async function runTests(root, vitestArgs) {
  const all = vitestArgs.length === 0;
  const { env, failed } = await prepareTools([temporalCli]);
  // Named tests may need no server: then a missing CLI is said, and the tests that need it say it again.
  if (!all) return finish(await runVitest(root, [], vitestArgs, env), []);
  for (const check of checks) {
    if ((await npmRun(root, [check], env)) !== 0) failed.push(check);
  }
  const run = await runVitest(root, ['fast', 'integration'], [], env);
  for (const file of listSlow(run.json)) {
    console.log(`Over ${fileSecondsMax} s: ${relative(root, file)}. Its place may be test/slow.`);
  }
  return finish(run, failed);
}

/**
 * Runs every check, and beside them the tests that need no server. The output of a check is printed when it has ended.
 *
 * @param {string} root the folder that holds package.json
 * @returns {Promise<number>} the exit code
 */
export async function runFastTests(root) {
  const [run, failed] = await Promise.all([
    runVitest(root, ['fast'], [], process.env),
    runChecksAside(root),
  ]);
  return finish(run, failed);
}

/**
 * @param {string} root
 * @returns {Promise<string[]>} names of the checks that failed
 */
async function runChecksAside(root) {
  /** @type {string[]} */
  const failed = [];
  for (const check of checks) {
    const result = await runCommand('npm', ['run', '--silent', check], {
      cwd: root,
      shell: process.platform === 'win32',
    });
    if (result.ok) continue;
    failed.push(check);
    console.error(`${check} failed:\n${result.output.trimEnd()}`);
  }
  return failed;
}

/**
 * Runs the tests in `test/slow`, with what only they need.
 *
 * @param {string} root the folder that holds package.json
 * @param {readonly string[]} vitestArgs further arguments of vitest, such as paths
 * @returns {Promise<number>} the exit code
 */
export async function runSlowTests(root, vitestArgs) {
  const { env, failed } = await prepareTools([temporalCli, chromium, postgres, bubblewrap]);
  return finish(await runVitest(root, ['slow'], vitestArgs, env), failed);
}

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} variable the environment variable that tells the tests where it is
 * @property {() => Promise<string>} find finds or installs it
 */

/** @type {Tool} */
const temporalCli = {
  name: 'Temporal CLI',
  variable: 'TEMPORAL_CLI_PATH',
  async find() {
    const cli = await findTemporalCli();
    console.error(describeCli(cli));
    return cli.path;
  },
};

/** @type {Tool} */
const chromium = { name: 'Chromium', variable: 'PLANWAVE_CHROMIUM', find: () => ensureChromium() };

/** @type {Tool} */
const postgres = {
  name: 'PostgreSQL',
  variable: 'PLANWAVE_POSTGRES',
  find: () => ensurePostgres(),
};

/** @type {Tool} */
const bubblewrap = {
  name: 'bubblewrap',
  variable: 'BWRAP_VERSION',
  find: () => ensureBubblewrap(),
};

/**
 * @param {readonly Tool[]} tools
 * @returns {Promise<{ env: NodeJS.ProcessEnv, failed: string[] }>} the environment for the tests, and the names of tools that are missing
 */
async function prepareTools(tools) {
  const env = { ...process.env };
  /** @type {string[]} */
  const failed = [];
  for (const { name, variable, find } of tools) {
    try {
      env[variable] = await find();
    } catch (error) {
      console.error(describeError(error));
      failed.push(name);
    }
  }
  return { env, failed };
}

/**
 * Prints what failed, and the totals as the last line.
 *
 * @param {{ code: number, json: string }} run
 * @param {readonly string[]} failedBefore
 * @returns {number} the exit code
 */
function finish({ code, json }, failedBefore) {
  const failed = code === 0 ? failedBefore : [...failedBefore, 'vitest'];
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(formatTotals(json));
  return failed.length > 0 ? 1 : 0;
}

/**
 * @param {string} root
 * @param {readonly string[]} projects those of vitest.config.mjs to run; all of them when empty
 * @param {readonly string[]} vitestArgs
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ code: number, json: string }>} the exit code, and the text of vitest's result file; empty when it ended without writing one
 */
async function runVitest(root, projects, vitestArgs, env) {
  const dir = await mkdtemp(join(tmpdir(), 'planwave-test-'));
  const file = join(dir, 'results.json');
  try {
    const selected = projects.map((project) => `--project=${project}`);
    const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const args = ['vitest', '--', ...selected, ...reports, ...vitestArgs];
    const code = await npmRun(root, args, env);
    return { code, json: await readFile(file, 'utf8').catch(() => '') };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Lists slow test files. Only the time of their tests counts: vitest's result file has none of hooks and of loading.
 *
 * @param {string} json vitest's result file; may be empty
 * @returns {string[]} the test files that took longer than a file outside of `test/slow` should
 */
export function listSlow(json) {
  if (json === '') return [];
  /** @type {readonly { name: string, startTime: number, endTime: number }[]} */
  const files = JSON.parse(json).testResults;
  return files
    .filter(({ startTime, endTime }) => endTime - startTime > fileSecondsMax * 1_000)
    .map(({ name }) => name);
}

/**
 * @param {string} json vitest's result file; empty when it ended without writing one
 * @returns {string} `N passed, N failed, N skipped`; a test file that could not run counts as one failed test
 */
export function formatTotals(json) {
  if (json === '') return 'vitest ended before it could count the tests';
  /** @type {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const results = JSON.parse(json);
  const broken = results.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
  );
  const failed = results.numFailedTests + broken.length;
  const skipped = results.numPendingTests + results.numTodoTests;
  return `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} the exit code; 1 when it was ended by a signal or could not be started
 */
function npmRun(root, args, env) {
  const shell = process.platform === 'win32';
  const child = spawn('npm', ['run', '--silent', ...args], {
    cwd: root,
    env,
    shell,
    stdio: 'inherit',
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}
