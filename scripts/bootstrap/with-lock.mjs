import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './expected-error.mjs';

/** A holder touches its lock this often; in milliseconds. */
const touchEveryMs = 1_000;
/** A lock nobody touched for this long has lost its holder, even on another machine; in milliseconds. */
const staleAfterMs = 30_000;
const pollEveryMs = 200;

/**
 * Runs `work` while holding a lock file, so that two commands started at once do a job one after the other. A lock
 * whose process is gone (kill -9, power cut) is taken over. A holder that was suspended for so long that its lock was
 * taken over leaves it to who has it then.
 *
 * @template T
 * @param {string} path the lock file; its folder is created
 * @param {() => Promise<T>} work
 * @param {(line: string) => void} [say] told once, when there is someone to wait for
 * @returns {Promise<T>} what `work` returned
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
 * @param {string} token names this holding of it
 * @returns {Promise<boolean>} false when somebody else holds it
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
    // Gone: the next look tells.
    return false;
  }
}

/**
 * After the sleep of a machine every lock is old, and a holder that lives touches it again at once.
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
 * @returns {Promise<boolean>} false when nobody can tell
 */
async function hasDeadHolder(path) {
  const holder = await readHolder(path);
  return holder?.host === hostname() && !isAlive(holder.pid);
}

/**
 * @param {string} path
 * @returns {Promise<{ pid: number, host: string, token?: string } | null>} null when it is gone, or was created a moment
 * ago and not written yet
 */
async function readHolder(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * @param {number} pid
 * @returns {boolean}
 */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * Two waiters may see the same abandoned lock. The second must not remove the one that the first created meanwhile, so
 * removal has a lock of its own and looks again.
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
