import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/artifact-store.ts';

const triesMax = 4;

/**
 * Does idempotent store work and repeats it when the store can't be reached: three more times, after `baseMs`, twice and
 * four times that. A reply that is paid for must not be lost to a hiccup of the disk.
 *
 * @throws StoreUnavailable when the last try fails too.
 */
export async function retryStore<T>(baseMs: number, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      // Each try waits for the one before it.
      // oxlint-disable-next-line no-await-in-loop
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tries === triesMax) throw error;
    }
    // oxlint-disable-next-line no-await-in-loop
    await sleep(baseMs * 2 ** (tries - 1));
  }
}
