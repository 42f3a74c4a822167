import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './expected-error.mjs';

/** A holder touches its lock this often; in milliseconds. */
const touchEveryMs = 2_000;
/** A lock nobody touched for this long has lost its holder, even on another machine; in milliseconds. */
const staleAfterMs = 30_000;
const pollEveryMs = 200;

/**
 * Runs `work` while holding a lock file, so that two commands started at once do a job one after the other. A lock
 * whose process is gone (kill -9, power cut) is taken over.
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
  while (!(await tryCreate(path))) {
    if (await isAbandoned(path)) {
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
    await rm(path, { force: true });
  }
}

/**
 * @param {string} path
 * @returns {Promise<boolean>} false when somebody else holds it
 */
async function tryCreate(path) {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }));
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
    if (Date.now() - mtimeMs > staleAfterMs) return true;
    const holder = JSON.parse(await readFile(path, 'utf8'));
    return holder.host === hostname() && !isAlive(holder.pid);
  } catch {
    // Gone, or created a moment ago and not written yet: the next look tells.
    return false;
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
  if (!(await tryCreate(removal))) {
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
