import { readdir, readFile } from 'node:fs/promises';

/** Linux counts a process's CPU time in hundredths of a second. */
const msPerTick = 10;

/** @returns CPU time since the process started, in milliseconds; null where there is no /proc. */
export async function readCpuMs(pid: number): Promise<number | null> {
  return (await readStat(pid))?.cpuMs ?? null;
}

/** @returns CPU time of a process and its children, living and ended, in milliseconds; null where there is no /proc. */
export async function readFamilyCpuMs(pid: number): Promise<number | null> {
  const stat = await readStat(pid);
  if (stat === null) return null;
  const others = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const children = (await Promise.all(others.map(readStat))).filter((one) => one?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.cpuMs ?? 0), stat.cpuMs + stat.endedMs);
}

/** @returns the process that started `pid`, when `pid` is called `name`; else null. */
export async function readParent(pid: number, name: string): Promise<number | null> {
  const stat = await readStat(pid);
  return stat?.name === name ? stat.parent : null;
}

interface Stat {
  readonly name: string;
  readonly parent: number;
  /** CPU time of the process itself. */
  readonly cpuMs: number;
  /** CPU time of its children that have ended. */
  readonly endedMs: number;
}

async function readStat(pid: number): Promise<Stat | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name in parentheses may hold blanks; the parent is the 2nd field after it, utime to cstime the 12th to 15th.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  const ticks = (at: number): number => Number(fields[at]) * msPerTick;
  return {
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
    parent: Number(fields[1]),
    cpuMs: ticks(11) + ticks(12),
    endedMs: ticks(13) + ticks(14),
  };
}

export interface MemoryReading {
  /** Current resident memory (VmRSS). */
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
