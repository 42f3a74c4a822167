import { gatherId } from './bench-job.ts';
import type { BenchJob } from './bench-job.ts';

export interface BenchTask {
  readonly job: BenchJob;
  /** Ids of tasks before it in the list. */
  readonly dependsOn: readonly string[];
}

/** Work of one wave and the decision on it. Engine and floor do the same. */
export interface BenchWave {
  readonly tasks: readonly BenchTask[];
  /** Tasks at work at the same time. */
  readonly parallel: number;
  /** Milliseconds of the decision's model call. */
  readonly decisionMs: number;
}

export interface EqualWave {
  readonly delegations: number;
  /** Model calls of each delegation, one after the other. */
  readonly turns: number;
  /** `tool`: each call but the last loads the output of a delegation that works before all others. */
  readonly by: 'pause' | 'tool';
  /** Milliseconds until the model replies. */
  readonly delayMs: number;
  /** If undefined, all of them at once. */
  readonly parallel?: number;
}

/** Equal delegations beside each other. */
export function equalWave(options: EqualWave): BenchWave {
  const { delegations, turns, by, delayMs, parallel = delegations } = options;
  const gather: BenchTask = { job: { id: gatherId, turns: 1, by, delayMs }, dependsOn: [] };
  const first = by === 'tool' ? [gather] : [];
  const dependsOn = first.map(({ job }) => job.id);
  const rest = Array.from({ length: delegations }, (_, index): BenchTask => {
    return { job: { id: `d${index + 1}`, turns, by, delayMs }, dependsOn };
  });
  return { tasks: [...first, ...rest], parallel, decisionMs: delayMs };
}

/** The job of all comparisons: 27 model calls, nine after each other, and the decision. */
export const usualWave = { delegations: 3, turns: 9, by: 'pause', delayMs: 0 } as const;

/** Describes the job of the decision at the end of the wave. */
export function decisionJob({ decisionMs }: BenchWave): BenchJob {
  return { id: 'goal', turns: 1, by: 'pause', delayMs: decisionMs };
}

/** Model calls that follow each other at least, without the decision. */
export function countSequentialCalls(wave: BenchWave): number {
  return longestPath(wave, ({ turns }) => turns);
}

/** Milliseconds that the wave's work takes at least, without the decision: its critical path. */
export function computeCriticalPathMs(wave: BenchWave): number {
  return longestPath(wave, ({ turns, delayMs }) => turns * delayMs);
}

function longestPath({ tasks }: BenchWave, weigh: (job: BenchJob) => number): number {
  const ends = new Map<string, number>();
  for (const { job, dependsOn } of tasks) {
    const start = Math.max(0, ...dependsOn.map((id) => ends.get(id) ?? 0));
    ends.set(job.id, start + weigh(job));
  }
  return Math.max(0, ...ends.values());
}
