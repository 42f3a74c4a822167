import { readFile } from 'node:fs/promises';

/** Linux counts a process's CPU time in hundredths of a second. */
const msPerTick = 10;

/** @returns CPU time since the process started, in milliseconds; null where there is no /proc. */
export async function readCpuMs(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name in parentheses may hold blanks; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

export interface MemoryReading {
  /** What the process holds now (VmRSS). */
  readonly rssBytes: number;
  /** The most that it ever held (VmHWM). */
  readonly peakBytes: number;
}

/** @returns null where there is no /proc. */
export async function readMemory(pid: number): Promise<MemoryReading | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  if (status === null) return null;
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) * 1_024;
  return { rssBytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM') };
}
