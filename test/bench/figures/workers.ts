import { equalWave, usualWave } from '../bench-wave.ts';
import { runEngineWave } from '../engine-wave.ts';
import type { BenchStage } from '../bench-stage.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';

const counts = [1, 2, 3] as const;
const waves = 20;
const delayMs = 1_000;

/** Each round is twenty waves for each number of workers. */
const roundShare = 10;

/**
 * A task queue for each number of workers, all on one server at the same time: they take turns, so that other load meets them alike, and
 * the ratios are those of one measurement.
 */
export const workers: Figure = {
  name: 'workers',
  about: `${waves} waves at once on ${counts.join(', ')} workers, ${formatNumber(delayMs)} and 0 ms a call`,
  measure: ({ rounds, sizeOf, say, withStage }) =>
    withStage(async (stage) => {
      for (const count of counts) {
        // oxlint-disable-next-line no-await-in-loop
        await stage.addWorkers({ taskQueue: queueOf(count), count });
        // oxlint-disable-next-line no-await-in-loop
        await playTogether(stage, count, { delayMs: 0, together: sizeOf(waves), name: 'warm-up' });
      }
      const rows: FigureRow[] = [];
      for (const ms of [delayMs, 0]) {
        say(`${formatNumber(ms)} ms a call …`);
        const order = { ms, rounds: Math.ceil(rounds / roundShare), together: sizeOf(waves) };
        // oxlint-disable-next-line no-await-in-loop
        rows.push(await measureQueues(stage, order));
      }
      return rows;
    }),
};

function queueOf(count: number): string {
  return `workers-${count}`;
}

async function measureQueues(
  stage: BenchStage,
  { ms, rounds, together }: Record<'ms' | 'rounds' | 'together', number>,
): Promise<FigureRow> {
  const taken = new Map<number, number[]>(counts.map((count) => [count, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const count of counts) {
      const name = `${ms}-${round}`;
      // oxlint-disable-next-line no-await-in-loop -- at the same time they would measure each other
      const took = await playTogether(stage, count, { delayMs: ms, together, name });
      taken.get(count)?.push((together * 60_000) / took);
    }
  }
  const perMinute = counts.map((count) => summarise(taken.get(count) ?? []));
  const [one, ...more] = perMinute;
  const ratios = more.map(({ median }, nth) => {
    const times = formatNumber(median / (one?.median ?? Number.NaN));
    return `${nth + 2} workers ${times} ×`;
  });
  return {
    figure: `${waves} waves at once, ${formatNumber(ms)} ms a call: waves a minute on one worker, and more workers beside it`,
    target: '',
    measured: `${one === undefined ? '' : formatSummary(one, 'a minute')}; ${ratios.join(', ')}`,
    floor: '',
    reached: null,
    notes: 'All processes share the cores of this machine.',
    numbers: Object.fromEntries(
      perMinute.map((summary, nth) => [`waves_a_minute_${nth + 1}`, summary]),
    ),
  };
}

/** @returns milliseconds until the last of the waves has ended. */
async function playTogether(
  { client }: BenchStage,
  count: number,
  order: { readonly delayMs: number; readonly together: number; readonly name: string },
): Promise<number> {
  const taskQueue = queueOf(count);
  const wave = equalWave({ ...usualWave, delayMs: order.delayMs });
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: order.together }, (_, nth) =>
      runEngineWave({ client, taskQueue }, wave, `${taskQueue}-${order.name}-${nth}`),
    ),
  );
  return performance.now() - startedAt;
}
