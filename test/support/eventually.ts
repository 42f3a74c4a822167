/**
 * Waits until `read` returns a value. Reads every 50 ms at first and less often the longer it waits, at least every
 * half second: a query costs server and worker 8 ms of processor time, which the awaited work needs.
 *
 * @param what names the value in the error when it never comes.
 * @param timeoutMs a bound for a hanging test, not a statement about speed. Default 5 min.
 */
export async function eventually<T>(
  what: string,
  read: () => Promise<T | null | undefined | false>,
  timeoutMs = 300_000,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const value = await read();
    if (value !== null && value !== undefined && value !== false) return value;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`);
    const pauseMs = Math.min(500, Math.max(50, waitedMs / 5));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
