import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { url as inspectorUrl } from 'node:inspector';
import { Worker as Thread } from 'node:worker_threads';
import { ApplicationFailure, type Info, Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { FailureType } from '../contracts/errors.ts';
import { workPlace } from '../core/ids.ts';
import { hashBytes } from '../activities/text/bytes.ts';
import type { Redactor } from '../redaction/create-redactor.ts';
import { formatLogEntry } from './create-logger.ts';
import { root } from './bundle-workflows.ts';
import type { WorkerProcessSettings } from './worker-settings.ts';

/** Attempts at one activity that may block their worker. One may be bad luck, each costs a worker half a minute. */
const blockedAttemptsMax = 3;

/** A note of an attempt that blocked its worker. It holds no text, not even an id that a person chose. */
export interface BlockedAttempt {
  readonly activity_type: string;
  readonly attempt: number;
  /** The innermost function of the code that blocked, such as `findKeys (redaction/span.ts:12:3)`. */
  readonly where: string;
}

/**
 * Builds the path of an attempt's note, `<home>/blocked/ab/<rest>/<attempt>.json`, from a hash of its activity. Workers on
 * one home see each other's notes, those of other homes don't.
 */
export function noteFileOf(
  home: string,
  {
    workflowExecution,
    activityId,
    attempt,
  }: Pick<Info, 'workflowExecution' | 'activityId' | 'attempt'>,
): string {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const name = [workflowId, runId, activityId].join('\0');
  const key = hashBytes(name);
  return join(home, 'blocked', key.slice(0, 2), key.slice(2), `${attempt}.json`);
}

/**
 * Creates an interceptor that fails an activity which has blocked three workers of this home, with the type that parks its run. A text
 * that blocks every worker then costs three restarts. The first attempt is never looked up, so it costs nothing.
 *
 * @throws Blocked, which is not retried. After `resume` the workflow starts a new activity, without notes.
 */
export function refuseBlockedWork(home: string): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        if (info.attempt > 1) await refuse(home, info, input.args[0]);
        return next(input);
      },
    },
  });
}

async function refuse(home: string, info: Info, order: unknown): Promise<void> {
  const folder = dirname(noteFileOf(home, info));
  const notes = await readdir(folder).catch(() => []);
  if (notes.length < blockedAttemptsMax) return;
  const { activityType, workflowExecution, workflowType } = info;
  const place = workPlace(workflowExecution?.workflowId ?? '', workflowType, delegationOf(order));
  const where = await readWhere(join(folder, notes.at(-1) ?? ''));
  throw ApplicationFailure.create({
    type: 'Blocked' satisfies FailureType,
    nonRetryable: true,
    message:
      `${activityType} of ${place} blocked ${notes.length} workers, which had to be ended${where}. ` +
      'It is not tried again by itself. Try: read the log of a worker, correct what blocks it, and resume; or stop',
  });
}

/** Reads the delegation from the input of an activity. One of the planner, or of no agent, has none. */
function delegationOf(order: unknown): string | undefined {
  if (typeof order !== 'object' || order === null || !('delegation_id' in order)) return undefined;
  return typeof order.delegation_id === 'string' ? order.delegation_id : undefined;
}

/** A note that can't be read, such as one that its worker was killed in, still counts. */
async function readWhere(file: string): Promise<string> {
  try {
    const { where }: BlockedAttempt = JSON.parse(await readFile(file, 'utf8'));
    return `, in ${where}`;
  } catch {
    return '';
  }
}

declare global {
  /** Called by the watchdog's thread on the main thread. Undefined without a watchdog. */
  // oxlint-disable-next-line no-var
  var planwaveDescribeBlock: ((isEnd: boolean) => string) | undefined;
}

interface WatchdogOptions extends Pick<
  WorkerProcessSettings,
  'home' | 'blockedSecondsMax' | 'log'
> {
  readonly redactor: Redactor;
}

/** Most frames of the stack that are shown; a recursion would fill pages. */
const framesMax = 20;

/** Share of the limit after which an attempt is noted: before a model call is given to the next worker. */
const noteShare = 1 / 6;

/**
 * Ends this process when its event loop stands still, for example in an endless computation: such a worker does not
 * respond, and SIGTERM does not end it. Its work goes to other workers, as after any death, and the running attempt is
 * noted, so that `refuseBlockedWork` recognises a text that blocks every worker.
 *
 * Workflow code runs in threads of the SDK, which cuts it off, see `createWorker`.
 *
 * @returns a function that stops the watch.
 */
export function startWatchdog(options: WatchdogOptions): () => Promise<void> {
  const { blockedSecondsMax } = options;
  if (blockedSecondsMax === 0) return () => Promise.resolve();
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const beats = new Int32Array(shared);
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1);
    Atomics.store(beats, 1, inspectorUrl() === undefined ? 0 : 1);
  }, 1_000);
  timer.unref();
  globalThis.planwaveDescribeBlock = (isEnd) => JSON.stringify(describeBlock(options, isEnd));
  const thread = new Thread(new URL('./watchdog-thread.mjs', import.meta.url), {
    name: 'watchdog',
    workerData: {
      beats: shared,
      noteAfter: Math.ceil(blockedSecondsMax * noteShare),
      endAfter: blockedSecondsMax,
    },
    // Without a loader, and without modules that a test loads into the process.
    env: {},
    execArgv: [],
  });
  thread.unref();
  return async () => {
    clearInterval(timer);
    globalThis.planwaveDescribeBlock = undefined;
    await thread.terminate();
  };
}

interface Block {
  readonly note: { readonly file: string; readonly text: string } | null;
  readonly line: string;
}

/**
 * Describes the blocking code while it blocks.
 *
 * @param isEnd True when the process is ended afterwards. Otherwise the interrupted code may continue, and nothing that
 * it uses, such as the redactor, may be touched.
 */
function describeBlock(options: WatchdogOptions, isEnd: boolean): Block {
  const stack = readStack();
  const info = infoAtWork();
  const note = info === null ? null : describeNote(options.home, info, stack);
  return { note, line: isEnd ? describeEnd(options, info, stack) : '' };
}

function describeNote(home: string, info: Info, stack: readonly string[]): Block['note'] {
  const noted: BlockedAttempt = {
    activity_type: info.activityType,
    attempt: info.attempt,
    where: stack.find((frame) => !frame.includes('<anonymous>')) ?? stack[0] ?? 'unknown code',
  };
  return { file: noteFileOf(home, info), text: `${JSON.stringify(noted)}\n` };
}

/** Formats the log line, because the thread can't redact it. */
function describeEnd(
  { log, blockedSecondsMax, redactor }: WatchdogOptions,
  info: Info | null,
  stack: readonly string[],
): string {
  const activity =
    info === null
      ? {}
      : {
          workflowId: info.workflowExecution?.workflowId,
          workflowType: info.workflowType,
          activityType: info.activityType,
          attempt: info.attempt,
        };
  const line = formatLogEntry(log, {
    level: 'ERROR',
    timestampNanos: BigInt(Date.now()) * 1_000_000n,
    message: `the event loop stood still for ${blockedSecondsMax} s: this worker ends`,
    meta: { ...activity, stack: stack.join('\n') },
  });
  return redactor.redactText(line, 'output');
}

/** @returns null when no activity is running, for example in a codec. */
function infoAtWork(): Info | null {
  try {
    return Context.current().info;
  } catch {
    return null;
  }
}

/** Lists the functions that block, innermost first. */
function readStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = framesMax + 5;
  const { stack = '' } = new Error('Only for its stack');
  Error.stackTraceLimit = limit;
  return listFrames(stack);
}

/** Lists the frames of a stack without those of this file, compiled or not, and of the thread's expression. */
export function listFrames(stack: string): string[] {
  return stack
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replace(/^at /, '').replace('file://', '').replace(root, ''))
    .filter(
      (frame) => !/worker\/watchdog\.[jt]s/.test(frame) && !frame.startsWith('<anonymous>:1:'),
    )
    .slice(0, framesMax);
}
