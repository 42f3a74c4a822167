import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../bootstrap/expected-error.mjs';
import { describeFolderFault } from './settings.ts';
import { type Part, logTail } from './part.ts';

/** A part that is restarted when it dies. */
export interface Supervised {
  readonly name: string;
  /** Settles with the reason when the part died too often. */
  readonly givenUp: Promise<string>;
  /** Stops it gently and does not restart it. */
  stop(graceMs: number): Promise<void>;
  /** Ends it at once and does not restart it. */
  kill(): void;
}

export interface SuperviseOptions {
  readonly name: string;
  readonly part: Part;
  /** Restarts it; settles when it is ready. */
  readonly restart: () => Promise<Part>;
  readonly say: (line: string) => void;
}

/** Most restarts in one life of the command. More deaths are a defect, not bad luck. */
const restartsMax = 5;
const pauseMs = 1_000;

/** Watches a part: reports when and how it dies with the end of its log, and restarts it. */
export function supervise(options: SuperviseOptions): Supervised {
  const { name, say } = options;
  let { part } = options;
  let stopping = false;
  let restarting: Promise<Part> | undefined;
  const watch = async (): Promise<string> => {
    for (let restarts = 0; ; restarts += 1) {
      const how = await part.ended;
      // Only `stop` and `kill` set it, and then this result is no longer awaited.
      if (stopping) return 'stopped';
      // Without room for its files a part writes no log, and the next one dies as well.
      const fault = describeFolderFault(dirname(part.logFile));
      if (fault !== undefined) return `the ${name} died (${how}): ${fault}`;
      say(
        `The ${name} died (${how}). The end of its log (${part.logFile}):\n${logTail(part.logFile)}`,
      );
      if (restarts === restartsMax) return `the ${name} died ${restarts + 1} times`;
      say(`Starting the ${name} again …`);
      await sleep(pauseMs);
      if (stopping) return 'stopped';
      try {
        restarting = options.restart();
        part = await restarting;
        restarting = undefined;
      } catch (error) {
        return `the ${name} could not be started again: ${messageOf(error)}`;
      }
      if (stopping) return 'stopped';
      say(`The ${name} runs again (process ${part.pid}).`);
    }
  };
  const watching = watch();
  return {
    name,
    givenUp: watching,
    async stop(graceMs) {
      stopping = true;
      // A part that is restarting has to be stopped too, which is possible only once it is up.
      const latest = await restarting?.catch(() => part);
      await (latest ?? part).stop(graceMs);
    },
    kill() {
      stopping = true;
      part.kill();
      restarting?.then((latest) => latest.kill()).catch(() => {});
    },
  };
}

/** Requests to stop, by Ctrl-C or `kill`. */
export interface StopSignal {
  /** Settles at the first signal. */
  readonly asked: Promise<void>;
  /** Settles at a second signal: do not wait for work in progress. */
  readonly insisted: Promise<void>;
  /** Stops listening. */
  dispose(): void;
}

/**
 * Milliseconds within which a signal counts as the same key press, because npm repeats the Ctrl-C that the terminal has
 * already sent.
 */
const samePressMs = 1_000;

/**
 * The line of a process that npm started for one of our commands alone. The shell between does not pass on the SIGTERM that
 * npm passes to it, so that its end is the only sign.
 */
const npmLine = /^(?=.*(?:planwave|scripts\/start\.mjs))[^&;|]*$/;

/** Calls back when the shell is gone in which npm started this process. Does nothing for a process of another parent. */
function watchShellOfNpm(onGone: () => void): () => void {
  if (!npmLine.test(process.env['npm_lifecycle_script'] ?? '')) return () => {};
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onGone();
  }, 500).unref();
  return () => clearInterval(timer);
}

/** Listens for SIGINT, SIGTERM and a closed terminal, and for the end of the npm that runs this command. */
export function listenForStop(): StopSignal {
  let askedAtMs: number | undefined;
  const first = createEvent();
  const second = createEvent();
  const onSignal = () => {
    if (askedAtMs === undefined) {
      askedAtMs = Date.now();
      first.happen();
    } else if (Date.now() - askedAtMs > samePressMs) second.happen();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  // After a Ctrl-C the shell may be gone first: that is no second one.
  const unwatch = watchShellOfNpm(() => {
    if (askedAtMs === undefined) onSignal();
  });
  return {
    asked: first.happened,
    insisted: second.happened,
    dispose() {
      for (const signal of signals) process.off(signal, onSignal);
      unwatch();
    },
  };
}

function createEvent(): { happened: Promise<void>; happen: () => void } {
  const listeners: (() => void)[] = [];
  const happened = new Promise<void>((resolve) => listeners.push(resolve));
  return { happened, happen: () => listeners.forEach((listener) => listener()) };
}
