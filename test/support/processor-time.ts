/** Returns the processor time in milliseconds that some work takes. A busy machine does not prolong it. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
