/**
 * Waits until `read` returns a value.
 *
 * @param what names the value in the error when it never comes.
 * @param timeoutMs a bound for a hanging test, not a statement about speed. Default 2 min.
 */
export async function eventually<T>(
  what: string,
  read: () => Promise<T | null | undefined | false>,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== null && value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
