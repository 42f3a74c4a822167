import { spawn } from 'node:child_process';

/**
 * @typedef {object} CommandResult
 * @property {boolean} ok true when it ran and ended with exit code 0
 * @property {string} output standard output and standard error, in the order they came
 * @property {string} reason why it is not ok, in one line; empty when ok
 */

/**
 * Runs a command to its end and never throws: a missing command is a result like any other.
 *
 * @param {string} command looked up on the PATH of `env`
 * @param {readonly string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] default: this process's environment
 * @param {number} [options.timeoutMs] in milliseconds; default: no limit
 * @param {boolean} [options.echo] also show the output as it comes; default false
 * @param {boolean} [options.shell] run it through the system's shell; default false
 * @returns {Promise<CommandResult>}
 */
export function runCommand(command, args, options = {}) {
  const { cwd, env = process.env, timeoutMs, echo = false, shell = false } = options;
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let timedOut = false;
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            child.kill('SIGKILL');
          }, timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (/** @type {string} */ text) => {
        output += text;
        if (echo) process.stderr.write(text);
      });
    }
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ ok: false, output, reason: spawnFailure(command, error) });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ ok: code === 0, output, reason: endReason(command, code, signal, timedOut) });
    });
  });
}

/**
 * @param {string} command
 * @param {NodeJS.ErrnoException} error
 * @returns {string}
 */
function spawnFailure(command, error) {
  if (error.code === 'ENOENT') {
    return command.includes('/') ? `${command} does not exist` : `${command} is not on PATH`;
  }
  if (error.code === 'EACCES') return `${command} may not be executed (permission denied)`;
  return `${command} could not be started: ${error.message}`;
}

/**
 * @param {string} command
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 * @param {boolean} timedOut
 * @returns {string}
 */
function endReason(command, code, signal, timedOut) {
  if (code === 0) return '';
  if (timedOut) return `${command} did not end in time and was stopped`;
  return signal ? `${command} was ended by ${signal}` : `${command} ended with exit code ${code}`;
}

/**
 * @param {string} text
 * @param {number} count how many lines to keep
 * @returns {string} the last lines that are not blank
 */
export function lastLines(text, count) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-count).join('\n');
}
