import type { BenchJob } from './bench-job.ts';
import { decisionJob } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';
import { createModelCaller } from './model-caller.ts';
import type { ModelCall } from './model-caller.ts';
import { createPlaces } from './places.ts';

/**
 * The floor that every figure stands on: a plain loop in memory that makes the same model calls of the same server, as
 * many, in the same order and as parallel, with requests about as large, and keeps what comes back in arrays. It
 * checks nothing, records nothing and survives nothing.
 */
export interface Floor {
  /** @returns milliseconds. */
  wave(wave: BenchWave, key: string): Promise<number>;
  close(): void;
}

export function createFloor(modelUrl: string): Floor {
  const caller = createModelCaller(modelUrl);
  return {
    async wave(wave, key) {
      const startedAt = performance.now();
      await doTasks(wave, (job) => converse(caller.call, key, job));
      await converse(caller.call, key, decisionJob(wave));
      return performance.now() - startedAt;
    },
    close: () => caller.close(),
  };
}

async function converse(call: ModelCall, key: string, job: BenchJob): Promise<readonly string[]> {
  const replies: string[] = [];
  while (replies.length < job.turns) {
    // Each call sends what the one before it brought.
    // oxlint-disable-next-line no-await-in-loop
    replies.push(await call(`${key}/${job.id}/${replies.length}`, job, replies));
  }
  return replies;
}

/** Each task begins when those it depends on are done and a place is free. */
async function doTasks(
  { tasks, parallel }: BenchWave,
  work: (job: BenchJob) => Promise<unknown>,
): Promise<void> {
  const inPlace = createPlaces(parallel);
  const done = new Map<string, Promise<unknown>>();
  for (const { job, dependsOn } of tasks) {
    const needed = Promise.all(dependsOn.map((id) => done.get(id) ?? Promise.resolve()));
    done.set(
      job.id,
      needed.then(() => inPlace(() => work(job))),
    );
  }
  await Promise.all(done.values());
}
