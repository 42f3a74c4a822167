import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './expected-error.mjs';

/** Milliseconds between two touches of a lock by its holder. */
const touchEveryMs = 1_000;
/** Milliseconds without a touch after which a lock has lost its holder, even on another machine. */
const staleAfterMs = 30_000;
const pollEveryMs = 200;

/**
 * Runs `work` while holding a lock file, so that two commands started at once do a job one after the other. A lock
 * whose process is gone (kill -9, power cut) is taken over. A holder that was suspended until its lock was taken over
 * leaves it to the new holder.
 *
 * @template T
 * @param {string} path the lock file; its folder is created
 * @param {() => Promise<T>} work
 * @param {(line: string) => void} [say] called once, when there is another holder to wait for
 * @returns {Promise<T>} result of `work`
 */
export async function withLock(path, work, say = () => {}) {
  await mkdir(dirname(path), { recursive: true });
  let said = false;
  const token = randomUUID();
  while (!(await tryCreate(path, token))) {
    if ((await isAbandoned(path)) && (await staysAbandoned(path))) {
      await removeAbandoned(path);
      continue;
    }
    if (!said) say(`waiting for another planwave command that is at work (lock: ${path})`);
    said = true;
    await sleep(pollEveryMs);
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, touchEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    const holder = await readHolder(path);
    if (holder?.token === token) await rm(path, { force: true });
  }
}

/**
 * @param {string} path
 * @param {string} token identifies this holder
 * @returns {Promise<boolean>} false when another process holds it
 */
async function tryCreate(path, token) {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname(), token }));
    await file.close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {Promise<boolean>}
 */
async function isAbandoned(path) {
  try {
    const { mtimeMs } = await stat(path);
    return Date.now() - mtimeMs > staleAfterMs || (await hasDeadHolder(path));
  } catch {
    // The lock is gone: the next attempt decides.
    return false;
  }
}

/**
 * Looks a second time, because after the sleep of a machine every lock is old, and a living holder touches its lock at
 * once.
 *
 * @param {string} path an abandoned lock
 * @returns {Promise<boolean>}
 */
async function staysAbandoned(path) {
  if (await hasDeadHolder(path)) return true;
  await sleep(2 * touchEveryMs);
  return isAbandoned(path);
}

/**
 * @param {string} path
 * @returns {Promise<boolean>} false when it is unknown
 */
async function hasDeadHolder(path) {
  const holder = await readHolder(path);
  return holder?.host === hostname() && !isAlive(holder.pid);
}

/**
 * @param {string} path
 * @returns {Promise<{ pid: number, host: string, token?: string } | null>} null when it is gone, or has just been
 * created and is still empty
 */
async function readHolder(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * @param {number} pid of a process on this machine
 * @returns {boolean}
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * Removes an abandoned lock. Two waiters may see the same one, and the second must not remove a new lock of the first,
 * so removal has a lock of its own and checks again.
 *
 * @param {string} path
 */
async function removeAbandoned(path) {
  const removal = `${path}.removal`;
  if (!(await tryCreate(removal, randomUUID()))) {
    if (await isAbandoned(removal)) await rm(removal, { force: true });
    await sleep(pollEveryMs);
    return;
  }
  try {
    if (await isAbandoned(path)) await rm(path, { force: true });
  } finally {
    await rm(removal, { force: true });
  }
}
