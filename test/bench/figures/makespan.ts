import { tsToMs } from '@temporalio/common/lib/time.js';
import { createPrng } from '../../support/prng.ts';
import type { BenchStage } from '../bench-stage.ts';
import { computeCriticalPathMs } from '../bench-wave.ts';
import type { BenchWave } from '../bench-wave.ts';
import { runEngineWave } from '../engine-wave.ts';
import type { Figure } from '../figure.ts';
import { formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';
import { warmUp } from '../wave-rounds.ts';
import { composeRandomGraph } from './random-graph.ts';

const graphs = 20;
const ratioMax = 1.1;
const seed = 1;

export const makespan: Figure = {
  name: 'makespan',
  about: `makespan of ${graphs} random dependency graphs against their critical path`,
  measure: ({ sizeOf, say, withStage }) =>
    withStage(async (stage) => {
      await warmUp(stage);
      const prng = createPrng(seed);
      const waves = Array.from({ length: sizeOf(graphs) }, () => composeRandomGraph(prng));
      const engine: number[] = [];
      const floor: number[] = [];
      for (const [index, wave] of waves.entries()) {
        const pathMs = computeCriticalPathMs(wave);
        const name = `graph-${index + 1}`;
        say(`${name}: ${wave.tasks.length} delegations, critical path ${pathMs} ms`);
        // One graph after the other.
        // oxlint-disable-next-line no-await-in-loop
        engine.push((await measureMakespan(stage, wave, name)) / pathMs);
        // oxlint-disable-next-line no-await-in-loop
        floor.push((await stage.floor.wave(wave, `floor-${name}`)) / pathMs);
      }
      const [ofEngine, ofFloor] = [summarise(engine), summarise(floor)];
      return [
        {
          figure: makespan.about,
          target: `≤ ${ratioMax} ×`,
          measured: formatSummary(ofEngine, '×'),
          floor: formatSummary(ofFloor, '×'),
          reached: ofEngine.median <= ratioMax,
          notes:
            '8 to 14 delegations of one call each, 200 to 1,500 ms long. From the first call of a delegation to the end ' +
            `of the last, by the wave's history. Seed ${seed}.`,
          numbers: { ratio: ofEngine, floor_ratio: ofFloor },
        },
      ];
    }),
};

/** @returns milliseconds from the first delegation's call to the end of the last, as the wave's history tells. */
async function measureMakespan(stage: BenchStage, wave: BenchWave, name: string): Promise<number> {
  await runEngineWave(stage, wave, name);
  const { events } = await stage.client.workflow.getHandle(name).fetchHistory();
  const calls = new Set<string>();
  const times = (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const isStart = isDelegationCall(scheduled?.input?.payloads?.[0]?.data);
    if (isStart) calls.add(String(event.eventId));
    const ended = event.activityTaskCompletedEventAttributes;
    const isEnd = calls.has(String(ended?.scheduledEventId));
    return isStart || isEnd ? [tsToMs(event.eventTime)] : [];
  });
  const { min, max } = summarise(times);
  return max - min;
}

/** Tells the model call of a delegation from those of the planner, by its input. */
function isDelegationCall(input: Uint8Array | null | undefined): boolean {
  return Buffer.from(input ?? []).includes('"stage":"delegation"');
}
