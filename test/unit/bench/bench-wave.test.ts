import { composeText, readJobs, writeJob } from '../../bench/bench-job.ts';
import type { BenchJob } from '../../bench/bench-job.ts';
import {
  computeCriticalPathMs,
  countSequentialCalls,
  equalWave,
  usualWave,
} from '../../bench/bench-wave.ts';
import type { BenchTask } from '../../bench/bench-wave.ts';
import { triadWave } from '../../bench/triad-wave.ts';
import { composeRandomGraph } from '../../bench/figures/random-graph.ts';
import { createPrng } from '../../support/prng.ts';

const job: BenchJob = { id: 'd1', turns: 9, by: 'tool', delayMs: 50 };

it('a job is read from a text as it was written, among others and in their order', () => {
  const other: BenchJob = { ...job, id: 'market-research', by: 'pause' };
  expect(readJobs(`Do it. ${writeJob(other)}\n${JSON.stringify(writeJob(job))}`)).toEqual([
    other,
    job,
  ]);
});

it('a text has its length, and differs from seed to seed', () => {
  expect(composeText('a', 1_000)).toHaveLength(1_000);
  expect(composeText('a', 1_000)).toBe(composeText('a', 1_000));
  expect(composeText('a', 1_000)).not.toBe(composeText('b', 1_000));
});

it('the usual wave has 27 calls, 9 of them in sequence', () => {
  const wave = equalWave(usualWave);
  expect(wave.tasks.reduce((sum, { job: { turns } }) => sum + turns, 0)).toBe(27);
  expect(countSequentialCalls(wave)).toBe(9);
});

it('a wave of triads has as many calls as the usual wave, in the same order', () => {
  const wave = triadWave(50);
  expect(wave.tasks.map(({ job: { by, turns, delayMs } }) => [by, turns, delayMs])).toEqual(
    Array.from({ length: 3 }, () => ['triad', 9, 50]),
  );
  expect(countSequentialCalls(wave)).toBe(9);
  expect(readJobs(writeJob({ ...job, by: 'triad' }))).toEqual([{ ...job, by: 'triad' }]);
});

it('with tools, one delegation works before the others', () => {
  const wave = equalWave({ ...usualWave, by: 'tool' });
  expect(wave.tasks.map(({ dependsOn }) => dependsOn)).toEqual([
    [],
    ['gather'],
    ['gather'],
    ['gather'],
  ]);
  expect(countSequentialCalls(wave)).toBe(10);
});

function task(id: string, delayMs: number, ...dependsOn: string[]): BenchTask {
  return { job: { id, turns: 1, by: 'pause', delayMs }, dependsOn };
}

it('the critical path is the longest chain, not the longest list', () => {
  const tasks = [task('a', 100), task('b', 300), task('c', 50, 'a'), task('d', 1, 'b', 'c')];
  expect(computeCriticalPathMs({ tasks, parallel: 4, decisionMs: 0 })).toBe(301);
});

it('a random graph is the same for the same seed, and depends on nothing that comes later', () => {
  const { tasks } = composeRandomGraph(createPrng(1));
  expect(composeRandomGraph(createPrng(1)).tasks).toEqual(tasks);
  const ids = tasks.map(({ job: { id } }) => id);
  for (const [index, { dependsOn }] of tasks.entries()) {
    expect(ids.slice(0, index)).toEqual(expect.arrayContaining([...dependsOn]));
  }
  expect(tasks.some(({ dependsOn }) => dependsOn.length > 0)).toBe(true);
});
