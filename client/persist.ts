import { setTimeout as sleep } from 'node:timers/promises';
import { PlanwaveClientError } from './client-error.ts';

export interface PersistOptions {
  /** Time before the second try, in milliseconds; the time doubles up to 5,000. */
  readonly everyMs: number;
  /** Time for which a server that does not answer is asked again, in milliseconds. If undefined: for ever. */
  readonly giveUpAfterMs?: number | undefined;
  /** Address of the server, for the notices. If undefined: not shown. */
  readonly address?: string | undefined;
  /** Ends the waiting and the trying. */
  readonly signal: AbortSignal;
}

/** Something about the following itself, for people. */
export interface Notice {
  readonly type: 'notice';
  readonly text: string;
}

const retryEveryMsMax = 5_000;

/** Repeats a read that fails because the server is away. Yields a notice when the connection is lost and when it is back. */
export async function* persist<T>(
  read: () => Promise<T>,
  { everyMs, giveUpAfterMs = Number.POSITIVE_INFINITY, address, signal }: PersistOptions,
): AsyncGenerator<Notice, T> {
  const server = serverName(address);
  let lostAt: number | null = null;
  for (let waitMs = everyMs; ; waitMs = Math.min(2 * waitMs, retryEveryMsMax)) {
    try {
      const found = await untilAborted(read(), signal);
      if (lostAt !== null) yield { type: 'notice', text: `The ${server} answers again.` };
      return found;
    } catch (error) {
      const now = performance.now();
      const isOver = signal.aborted || now - (lostAt ?? now) >= giveUpAfterMs;
      if (isOver || !isServerAway(error)) throw error;
      if (lostAt === null) {
        yield {
          type: 'notice',
          text: `The connection to the ${server} is lost. The work is safe there; trying again …`,
        };
      }
      lostAt ??= now;
    }
    await sleep(waitMs, undefined, { signal });
  }
}

function serverName(address: string | undefined): string {
  return address === undefined ? 'Temporal server' : `Temporal server at ${address}`;
}

function isServerAway(error: unknown): boolean {
  return error instanceof PlanwaveClientError && error.code === 'unreachable';
}

/** Runs the generator `work`, gives each notice to `tell`, and returns the result. */
export async function tellNotices<T>(
  work: AsyncGenerator<Notice, T>,
  tell: (text: string) => void,
): Promise<T> {
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
    tell(step.value.text);
  }
}

/**
 * Settles as `work` does, or rejects when the signal ends, whichever comes first.
 *
 * A read takes seconds where no worker answers; a user who leaves does not wait for that.
 */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error('aborted'));
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
