/**
 * Settles as `work` does, or rejects when the signal ends, whichever comes first.
 *
 * What is read of a server takes seconds where no worker answers; nobody waits for that who wants to leave.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error('aborted'));
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
