/** Unix epoch seconds of the current workflow task. Temporal replaces the clock: the same on replay. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Seconds since then, as whole as the clock's milliseconds. @param sinceMs from `nowMs`. */
export function secondsSince(sinceMs: number): number {
  return (nowMs() - sinceMs) / 1000;
}

/** Unix epoch milliseconds of the current workflow task. */
export function nowMs(): number {
  return Date.now();
}

/** @param epochSeconds Null for no time. */
export function dateOf(epochSeconds: number | null): Date | null {
  return epochSeconds === null ? null : new Date(epochSeconds * 1000);
}
