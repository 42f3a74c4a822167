/**
 * Loaded into a worker process before its own code: the process kills itself with SIGKILL before, during and after each
 * call that acts, once at each point. Points and changes that were made are lines of the file `KILL_LOG`:
 *
 * - `before <effect>`: the ledger says that it has begun, and nothing was done yet.
 * - `during <effect>`: a new file is written but not in its place, a file is about to be removed, or a command runs.
 * - `made <name>`: a file was replaced or removed; `ran`: a command was started.
 * - `after <effect>`: it was done, and the ledger does not say so.
 *
 * Effects must come one after the other.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname } from 'node:path';

const { KILL_LOG } = process.env;
const lines = () => (existsSync(KILL_LOG) ? readFileSync(KILL_LOG, 'utf8').trim().split('\n') : []);
const note = (line) => appendFileSync(KILL_LOG, `${line}\n`);

const die = (line) => {
  note(line);
  process.kill(process.pid, 'SIGKILL');
  // The signal takes a moment.
  return new Promise(() => {});
};

/** Returns the effect that has begun and was not yet interrupted while it acted. */
const findUndisturbed = () => {
  const [point, effect] = lines()
    .findLast((line) => /^(?:before|during|after) /.test(line))
    ?.split(' ') ?? [''];
  return point === 'before' ? effect : null;
};

const link = promises.link.bind(promises);
promises.link = async (from, to) => {
  const folder = dirname(String(to));
  if (!/\/effects\/[0-9a-f]{2}\//.test(`${folder}/`)) return link(from, to);
  const effect = folder.slice(-12);
  const text = readFileSync(from, 'utf8');
  const isNew = (point) => !lines().includes(`${point} ${effect}`);
  if (text.includes('"type":"confirmed"') && isNew('after')) return die(`after ${effect}`);
  await link(from, to);
  if (text.includes('"type":"started"') && isNew('before')) return die(`before ${effect}`);
};

/** Files of a workspace are changed by descriptors. */
const isOfWorkspace = (path) => String(path).startsWith('/proc/self/fd/');

for (const name of ['rename', 'unlink']) {
  const change = promises[name].bind(promises);
  promises[name] = async (...paths) => {
    const path = paths.at(-1);
    if (!isOfWorkspace(path)) return change(...paths);
    const effect = findUndisturbed();
    if (effect !== null) return die(`during ${effect}`);
    await change(...paths);
    // A file that is removed is put aside first.
    const isRemoved = basename(path).endsWith('.tmp');
    note(`made ${basename(isRemoved ? paths[0] : path)}`);
  };
}

const spawn = childProcess.spawn;
childProcess.spawn = (file, args, options) => {
  const child = spawn(file, args, options);
  // A worker probes the sandbox at its start.
  const isCommand = Array.isArray(args) && args.includes('--hostname') && args.at(-1) !== 'true';
  if (isCommand) {
    const effect = findUndisturbed();
    note('ran');
    if (effect !== null) setTimeout(() => void die(`during ${effect}`), 30);
  }
  return child;
};

syncBuiltinESMExports();
