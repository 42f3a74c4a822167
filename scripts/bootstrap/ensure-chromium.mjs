import { existsSync } from 'node:fs';
import { ExpectedError } from './expected-error.mjs';
import { installWithApt } from './install-with-apt.mjs';
import { runCommand } from './run-command.mjs';

const namesOnPath = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** macOS applications are not on PATH. */
const macPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * @typedef {object} ChromiumOptions
 * @property {NodeJS.ProcessEnv} [env] default: this process's environment
 * @property {boolean} [install] may install it with apt-get when root on a Debian-like system; default true
 * @property {(line: string) => void} [say] default: standard error
 */

/**
 * Finds Chromium for the test that looks at the Temporal Web UI.
 *
 * @param {ChromiumOptions} [options]
 * @returns {Promise<string>} path or command name
 * @throws {ExpectedError} when there is none and none could be installed
 */
export async function ensureChromium({
  env = process.env,
  install = true,
  say = console.error,
} = {}) {
  /** @type {string[]} */
  const tried = [];
  const found = await findChromium(env, tried);
  if (found !== undefined) return found;
  const purpose = 'Chromium for the Web UI test';
  if (install && (await installWithApt('chromium', { env, tried, purpose, say }))) {
    const installed = await findChromium(env, tried);
    if (installed !== undefined) return installed;
  }
  throw new ExpectedError(
    [
      'No Chromium was found for the Web UI test. What was tried:',
      ...tried.map((reason) => `  - ${reason}`),
      'What to do: install Chromium or Chrome so that it is on PATH, or name it: PLANWAVE_CHROMIUM=/path/to/chromium',
    ].join('\n'),
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
    const reason =
      candidate === named ? `PLANWAVE_CHROMIUM=${named}: ${result.reason}` : result.reason;
    if (!tried.includes(reason)) tried.push(reason);
  }
  return undefined;
}
