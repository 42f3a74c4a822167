import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/artifact-store.ts';

/**
 * Number of tries. With the longest wait of 64 × `baseMs`, they take a quarter of an hour at 250 ms, most of what an
 * attempt may last.
 */
const triesMax = 60;
const backOffFactorMax = 64;

/** The patience while the attempt is being taken back. */
const hurriedTriesMax = 4;

interface RetryOptions {
  /** First wait in milliseconds, doubled each time. */
  readonly baseMs: number;
  /** Aborted when the attempt is cancelled. */
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onWait: (error: StoreUnavailable) => void;
}

/**
 * Runs idempotent store work and repeats it while the store can't be reached: a reply that is paid for waits for the
 * disk instead of being bought again.
 *
 * @throws StoreUnavailable when the last try fails too.
 */
export async function retryStore<T>(
  { baseMs, signal, onWait }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      // Each try waits for the one before it.
      // oxlint-disable-next-line no-await-in-loop
      return await work();
    } catch (error) {
      const isLast = tries >= (signal.aborted ? hurriedTriesMax : triesMax);
      if (!(error instanceof StoreUnavailable) || isLast) throw error;
      onWait(error);
    }
    const waitMs = baseMs * Math.min(2 ** (tries - 1), backOffFactorMax);
    // oxlint-disable-next-line no-await-in-loop
    await sleepUnlessAborted(waitMs, signal);
  }
}

/** Sleeps, but ends early when the signal is aborted. */
async function sleepUnlessAborted(waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return sleep(waitMs);
  await sleep(waitMs, undefined, { signal }).catch(() => undefined);
}
