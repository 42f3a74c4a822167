import { Interrupted } from '../cli-io.ts';
import type { CliIo } from '../cli-io.ts';

/** Turns Ctrl-C into a rejection of whatever is waited for. */
export interface InterruptGuard {
  /** Settles as `work` does, or rejects with `Interrupted` at Ctrl-C, whichever comes first. */
  guard<T>(work: Promise<T>): Promise<T>;
  dispose(): void;
}

export function createInterruptGuard(io: CliIo): InterruptGuard {
  const interrupt = new AbortController();
  const dispose = io.onInterrupt(() => {
    interrupt.abort();
  });
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt.signal.addEventListener('abort', () => {
      reject(new Interrupted('interrupted'));
    });
  });
  interrupted.catch(() => {});
  return {
    guard: (work) => {
      // Work that loses the race may still fail later, when nobody listens any more.
      work.catch(() => {});
      return Promise.race([work, interrupted]);
    },
    dispose,
  };
}
