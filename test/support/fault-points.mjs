/**
 * Loaded into a worker process before its own code, for the fault campaign.
 *
 * - Fault points: when the file `FAULT_FILE` exists, `{"what","nth"}`, the nth durable write from then on is hit: `before`
 *   and `after` kill the process around it, `torn` kills it when half of the next bytes are written, `full` makes all
 *   writes fail for two seconds with ENOSPC. The file is removed first, so that the next worker is not hit. With `untilMs`, Unix
 *   epoch milliseconds, the order is void from then on. A hit is noted beside the file.
 * - Clock: `CLOCK_OFFSET_MS` is added to the time of day.
 * - Stalls: each time in which the event loop computed for more than five seconds is one line of `STALL_FILE`. A process
 *   that was stopped or starved did not compute.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// The true time of day: the clock is set below.
const { now: nowMs } = Date;
const { FAULT_FILE, STALL_FILE, CLOCK_OFFSET_MS } = process.env;
const fullMs = 2_000;
const stallMs = 5_000;
const everyMs = 500;

const { writeFileSync } = fs;

/** Kills this process, and notes that it was ordered to die, which explains its end. */
const die = () => {
  writeFileSync(`${FAULT_FILE}.${process.pid}`, '');
  process.kill(process.pid, 'SIGKILL');
};

let ordered = null;
let fullUntilMs = 0;

const isVoid = ({ untilMs = Infinity }) => nowMs() >= untilMs;

/** The order of the campaign, once; null when there is none. */
function takeOrder() {
  if (ordered !== null && isVoid(ordered)) ordered = null;
  if (ordered !== null || FAULT_FILE === undefined || !fs.existsSync(FAULT_FILE)) return ordered;
  try {
    const order = JSON.parse(fs.readFileSync(FAULT_FILE, 'utf8'));
    fs.rmSync(FAULT_FILE);
    ordered = isVoid(order) ? null : order;
  } catch {
    // Half written, or taken by another worker.
    ordered = null;
  }
  return ordered;
}

/** Counts a durable write. Returns what happens to it, or null. */
function hit() {
  const order = takeOrder();
  if (order === null) return null;
  order.nth -= 1;
  if (order.nth > 0) return null;
  ordered = null;
  if (order.what === 'full') {
    fullUntilMs = performance.now() + fullMs;
    writeFileSync(`${FAULT_FILE}.full.${process.pid}`, '');
  }
  if (order.what === 'torn') tearing = order;
  return order.what;
}

function refuseWhenFull() {
  if (performance.now() >= fullUntilMs) return;
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    errno: -28,
    syscall: 'write',
  });
}

/** Makes a function that writes durably a fault point. */
function patch(owner, name) {
  const original = owner[name];
  if (typeof original !== 'function') return;
  owner[name] = name.endsWith('Sync')
    ? function (...args) {
        const what = hit();
        if (what === 'before' || what === 'torn') die();
        refuseWhenFull();
        const result = original.apply(this, args);
        if (what === 'after') die();
        return result;
      }
    : async function (...args) {
        const what = hit();
        if (what === 'before') die();
        refuseWhenFull();
        const result = await original.apply(this, args);
        if (what === 'after') die();
        return result;
      };
}

/** Does the same for a function with a callback. */
function patchCallback(owner, name) {
  const original = owner[name];
  owner[name] = function (...args) {
    const done = args.pop();
    const what = hit();
    if (what === 'before' || what === 'torn') die();
    try {
      refuseWhenFull();
    } catch (error) {
      process.nextTick(done, error);
      return;
    }
    original.call(this, ...args, (...results) => {
      if (what === 'after') die();
      done(...results);
    });
  };
}

/** An order to tear the next bytes. */
let tearing = null;

/** Makes a function that writes bytes fail while the disk is full, and tear. */
function patchBytes(owner, name) {
  const original = owner[name];
  if (typeof original !== 'function') return;
  owner[name] = async function (data, ...rest) {
    refuseWhenFull();
    if (tearing === null || isVoid(tearing)) return original.call(this, data, ...rest);
    const bytes = Buffer.from(data.buffer === undefined ? String(data) : data);
    await original.call(this, bytes.subarray(0, Math.ceil(bytes.length / 2)), ...rest);
    return die();
  };
}

if (isMainThread) {
  const handle = await promises.open(process.execPath, 'r');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ['sync', 'datasync']) patch(prototype, name);
  for (const name of ['write', 'writeFile', 'appendFile']) patchBytes(prototype, name);
  for (const name of ['rename', 'link']) patch(promises, name);
  for (const name of ['fsyncSync', 'fdatasyncSync', 'renameSync', 'linkSync']) patch(fs, name);
  // Folders are flushed with it.
  patchCallback(fs, 'fsync');
  syncBuiltinESMExports();
}

if (isMainThread && STALL_FILE !== undefined) {
  let lastMs = performance.now();
  let lastCpu = process.cpuUsage();
  setInterval(() => {
    const gapMs = performance.now() - lastMs - everyMs;
    const { user, system } = process.cpuUsage(lastCpu);
    const cpuMs = (user + system) / 1_000;
    lastMs = performance.now();
    lastCpu = process.cpuUsage();
    if (gapMs > stallMs && cpuMs > stallMs) {
      fs.appendFileSync(STALL_FILE, `The event loop computed for ${Math.round(gapMs)} ms.\n`);
    }
  }, everyMs).unref();
}

const offsetMs = Number(CLOCK_OFFSET_MS ?? 0);
if (isMainThread && offsetMs !== 0) {
  const RealDate = Date;
  const now = () => RealDate.now() + offsetMs;
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(now());
      else super(...args);
    }
    static now() {
      return now();
    }
  };
}
