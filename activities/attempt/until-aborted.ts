/** Waits for work as long as it is wanted. Work that goes on is left behind, and its late end changes nothing. @throws the reason of `signal` */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => {
      const reason: unknown = signal.reason;
      reject(reason instanceof Error ? reason : new Error('the call was given up'));
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    done.abort();
  }
}
