import { url as inspectorUrl } from 'node:inspector';
import { Worker as Thread } from 'node:worker_threads';
import { Context } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import type { Redactor } from '../redaction/create-redactor.ts';
import { noteFileOf } from './blocked-work.ts';
import type { BlockedAttempt } from './blocked-work.ts';
import { formatLogEntry } from './create-logger.ts';
import { root } from './build-id.ts';
import type { WorkerProcessSettings } from './worker-settings.ts';

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
 * Workflow code runs in threads of the SDK, which ends tasks that take longer than 5 s.
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
  return (
    stack
      .split('\n')
      .slice(1)
      .map((line) => line.trim().replace(/^at /, '').replace('file://', '').replace(root, ''))
      // Frames of this file, and of the thread's expression.
      .filter(
        (frame) => !frame.includes('worker/watchdog.ts') && !frame.startsWith('<anonymous>:1:'),
      )
      .slice(0, framesMax)
  );
}
