import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium, ensurePostgres } from './test-programs.mjs';
import { describeError } from './expected-error.mjs';
import { describeCli, findTemporalCli } from './find-temporal-cli.mjs';

/** npm scripts that run before the tests, in this order. */
const checks = ['format:check', 'lint', 'typecheck', 'unused'];

/**
 * Runs every check and all tests, and prints what failed and the totals at the end. A failed check does not stop the
 * rest: one run shows everything that has to be repaired.
 *
 * @param {string} root the folder that holds package.json
 * @param {readonly string[]} jestArgs when there are any, only jest runs, with them
 * @returns {Promise<number>} the exit code
 */
export async function runTests(root, jestArgs) {
  const all = jestArgs.length === 0;
  /** @type {string[]} */
  const failed = [];
  const env = { ...process.env };
  // Named tests may need neither: then a missing one is said, and the tests that need it say it again.
  await prepare('Temporal CLI', all ? failed : [], async () => {
    const cli = await findTemporalCli();
    env['TEMPORAL_CLI_PATH'] = cli.path;
    console.error(describeCli(cli));
  });
  if (all) {
    await prepare('Chromium', failed, async () => {
      env['PLANWAVE_CHROMIUM'] = await ensureChromium();
    });
    await prepare('PostgreSQL', failed, async () => {
      env['PLANWAVE_POSTGRES'] = await ensurePostgres();
    });
    for (const check of checks) {
      if ((await npmRun(root, [check], env)) !== 0) failed.push(check);
    }
  }
  const { code, totals } = await runJest(root, jestArgs, env);
  if (code !== 0) failed.push('jest');
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(totals);
  return failed.length > 0 ? 1 : 0;
}

/**
 * @param {string} name
 * @param {string[]} failed
 * @param {() => Promise<void>} work
 */
async function prepare(name, failed, work) {
  try {
    await work();
  } catch (error) {
    console.error(describeError(error));
    failed.push(name);
  }
}

/**
 * @param {string} root
 * @param {readonly string[]} jestArgs
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ code: number, totals: string }>}
 */
async function runJest(root, jestArgs, env) {
  const dir = await mkdtemp(join(tmpdir(), 'planwave-test-'));
  const file = join(dir, 'results.json');
  try {
    const args = ['jest', '--', ...jestArgs, '--json', `--outputFile=${file}`];
    const code = await npmRun(root, args, env);
    return { code, totals: formatTotals(await readFile(file, 'utf8').catch(() => '')) };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * @param {string} json jest's result file; empty when jest ended without writing one
 * @returns {string} `N passed, N failed, N skipped`; a test file that could not run counts as one failed test
 */
export function formatTotals(json) {
  if (json === '') return 'jest ended before it could count the tests';
  const results = JSON.parse(json);
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
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
