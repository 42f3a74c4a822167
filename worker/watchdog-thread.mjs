import { mkdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { dirname } from 'node:path';
import { workerData } from 'node:worker_threads';

/**
 * The thread of `watchdog.ts`. Plain JavaScript without imports of the project, so that it needs nothing that may block
 * the event loop. All writes are synchronous: the main thread's streams are blocked too.
 *
 * @typedef {object} WatchdogOrder
 * @property {SharedArrayBuffer} beats two 32-bit numbers: number of rounds of the event loop; 1 while a debugger may
 * hold it
 * @property {number} noteAfter seconds without a round after which the running attempt is noted
 * @property {number} endAfter seconds without a round after which the process is ended
 *
 * @typedef {object} Block result of `describeBlock` of `watchdog.ts`
 * @property {{ readonly file: string, readonly text: string } | null} note
 * @property {string} line for the log, without secrets; empty unless the process is ended
 */

/** @type {WatchdogOrder} */
const { beats: shared, noteAfter, endAfter } = workerData;
const beats = new Int32Array(shared);

/** A loop that does not answer, for example in a system call, does not delay its end for longer. */
const answerWithinMs = 2_000;

const standardError = 2;

let seen = -1;
/** Counted in ticks of this thread, not by a clock: a suspended process or machine suspends them too. */
let secondsStill = 0;
/** @type {string | null} */
let noteFile = null;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat !== seen || Atomics.load(beats, 1) === 1) {
    seen = beat;
    secondsStill = 0;
    forget();
    return;
  }
  secondsStill += 1;
  if (secondsStill === noteAfter) void note(beat);
  if (secondsStill === endAfter) void end();
}, 1_000);

/**
 * Notes the attempt before its worker ends, because other workers will take it up, one after the other.
 *
 * @param {number} beat
 */
async function note(beat) {
  const block = await askMainThread(false);
  if (Atomics.load(beats, 0) === beat) keep(block);
}

async function end() {
  const block = await askMainThread(true);
  keep(block);
  const line = block?.line || `The event loop stood still for ${endAfter} s. This worker ends.`;
  try {
    writeSync(standardError, `${line}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}

/** @param {Block | null} block */
function keep(block) {
  if (!block?.note) return;
  const { file, text } = block.note;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    noteFile = file;
  } catch {
    // A full disk must not keep the worker from ending.
  }
}

/** Removes the note of a loop that was slow and has recovered. */
function forget() {
  if (noteFile === null) return;
  try {
    rmSync(noteFile, { force: true });
  } catch {
    // An error of this thread would end a healthy worker. A superfluous note ends nothing.
  }
  noteFile = null;
}

/**
 * Makes the main thread run `describeBlock` while it is blocked. V8 lets an inspector in at every loop and every step
 * back of a regular expression, so the function sees the stack and the attempt that block.
 *
 * @param {boolean} isEnd true when the process is ended afterwards
 * @returns {Promise<Block | null>} null when it does not answer.
 */
async function askMainThread(isEnd) {
  const session = new Session();
  try {
    session.connectToMainThread();
    return await new Promise((resolve) => {
      setTimeout(() => resolve(null), answerWithinMs);
      const expression = `globalThis.planwaveDescribeBlock?.(${isEnd})`;
      session.post('Runtime.evaluate', { expression, returnByValue: true }, (error, answer) => {
        const value = error === null ? answer.result.value : null;
        resolve(typeof value === 'string' ? JSON.parse(value) : null);
      });
    });
  } catch {
    return null;
  } finally {
    session.disconnect();
  }
}
