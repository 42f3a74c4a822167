import { setTimeout as sleep } from 'node:timers/promises';
import { formatNumber } from './format.ts';
import { summarise } from './statistics.ts';
import type { Summary } from './statistics.ts';

/** CPU time of each process since it started, in milliseconds, by what the process is. */
export type CpuReading = Readonly<Record<string, number>>;

/** Somebody who does the same waves as the others: the engine, the plain loop, another engine. */
export interface Contestant {
  /** Does one wave to its end. No two waves have the same key. */
  readonly wave: (key: string) => Promise<unknown>;
  /** If undefined, nobody asks. @returns null where processes can't be looked at. */
  readonly readCpu?: () => Promise<CpuReading | null>;
}

export interface ContestOptions {
  /** Begins the keys of the waves: no two measurements of a stage have the same. */
  readonly name: string;
  readonly rounds: number;
  /** Waves at the same time. */
  readonly together: number;
}

export interface ContestResult {
  /** Until the last wave of a round was done. */
  readonly ms: Summary;
  /** Mean CPU time of a wave by process, in milliseconds; null if unknown. */
  readonly cpuMs: CpuReading | null;
  /** The same in words; empty if unknown. */
  readonly cpu: string;
}

/** Contestants of a measurement: the engine, the plain loop, and other engines. */
export interface Contest<T> {
  readonly engine: T;
  readonly floor: T;
  readonly others: readonly T[];
}

/** After a wave a server tidies up for a moment. Whoever is measured next should not pay for it. */
const settleMs = 250;

/**
 * Measures them in turns, one at a time, so that whatever the machine does besides hits all of them alike. Each round
 * begins with another one.
 */
export async function measureInTurns(
  { engine, floor, others }: Contest<Contestant>,
  options: ContestOptions,
): Promise<Contest<ContestResult>> {
  const scores = { engine: enter(engine), floor: enter(floor), others: others.map(enter) };
  const all = [scores.engine, scores.floor, ...scores.others];
  for (let round = 1; round <= options.rounds; round += 1) {
    const first = (round - 1) % all.length;
    for (const score of [...all.slice(first), ...all.slice(0, first)]) {
      // oxlint-disable-next-line no-await-in-loop
      await measureOnce(score, round, options);
    }
  }
  const conclude = ({ ms, cpu }: Score): ContestResult => {
    const cpuMs = averageCpu(cpu, options.together);
    return { ms: summarise(ms), cpuMs, cpu: describeCpu(cpuMs) };
  };
  return {
    engine: conclude(scores.engine),
    floor: conclude(scores.floor),
    others: scores.others.map(conclude),
  };
}

interface Score {
  readonly contestant: Contestant;
  readonly ms: number[];
  readonly cpu: CpuReading[];
}

function enter(contestant: Contestant): Score {
  return { contestant, ms: [], cpu: [] };
}

async function measureOnce(
  { contestant, ms, cpu }: Score,
  round: number,
  options: ContestOptions,
): Promise<void> {
  await sleep(settleMs);
  const before = await contestant.readCpu?.();
  ms.push(await together(options, (nth) => contestant.wave(`${options.name}-${round}-${nth}`)));
  const after = await contestant.readCpu?.();
  if (before && after) cpu.push(subtract(after, before));
}

/** @returns milliseconds until the last of them is done. */
async function together(
  { together: count }: ContestOptions,
  run: (nth: number) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, (_, index) => run(index + 1)));
  return performance.now() - startedAt;
}

function subtract(after: CpuReading, before: CpuReading): CpuReading {
  return Object.fromEntries(
    Object.entries(after).map(([process, ms]) => [process, ms - (before[process] ?? 0)]),
  );
}

function averageCpu(readings: readonly CpuReading[], waves: number): CpuReading | null {
  const [first] = readings;
  if (first === undefined) return null;
  const means = Object.keys(first).map((process) => {
    const sum = readings.reduce((total, reading) => total + (reading[process] ?? 0), 0);
    return [process, sum / readings.length / waves];
  });
  return Object.fromEntries(means);
}

function describeCpu(cpuMs: CpuReading | null): string {
  if (cpuMs === null) return '';
  const parts = Object.entries(cpuMs).map(([process, ms]) => `${process} ${formatNumber(ms)} ms`);
  return `CPU of a wave: ${parts.join(', ')}.`;
}
