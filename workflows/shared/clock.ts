/** Unix epoch seconds of the current workflow task. Temporal replaces the clock: the same on replay. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Unix epoch milliseconds of the current workflow task. */
export function nowMs(): number {
  return Date.now();
}
