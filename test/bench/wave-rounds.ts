import { setTimeout as sleep } from 'node:timers/promises';
import type { CpuReading, BenchStage } from './bench-stage.ts';
import { equalWave, usualWave } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';
import { runEngineWave } from './engine-wave.ts';
import { formatNumber } from './format.ts';
import { summarise } from './statistics.ts';
import type { Summary } from './statistics.ts';

/** Waves before the first one that counts: the first ones pay for caches and compilers on all sides. */
const warmUpWaves = 5;

/** After a wave the server tidies up for a moment. Whoever is measured next should not pay for it. */
const settleMs = 250;

export interface WaveRounds {
  readonly engineMs: Summary;
  readonly floorMs: Summary;
  /** What the engine's rounds took of each process, in a few words; empty where that can't be known. */
  readonly cpu: string;
}

export interface RoundsOptions {
  /** Begins the ids of the waves: no two measurements of a stage have the same. */
  readonly name: string;
  readonly rounds: number;
  /** Waves at the same time. */
  readonly together: number;
}

/** Lets both sides run until they are warm. */
export async function warmUp(stage: BenchStage): Promise<void> {
  const wave = equalWave(usualWave);
  for (let nth = 1; nth <= warmUpWaves; nth += 1) {
    // Measured one after the other, here and below: two at a time would measure each other.
    // oxlint-disable-next-line no-await-in-loop
    await runEngineWave(stage, wave, `warm-up-${nth}`);
    // oxlint-disable-next-line no-await-in-loop
    await stage.floor.wave(wave, `floor-warm-up-${nth}`);
  }
}

/** Measures engine and floor in turns, so that whatever the machine does besides hits both alike. */
export async function measureRounds(
  stage: BenchStage,
  wave: BenchWave,
  options: RoundsOptions,
): Promise<WaveRounds> {
  const engine: number[] = [];
  const floor: number[] = [];
  const cpu: CpuReading[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const measureEngine = async (): Promise<void> => {
      const before = await stage.readCpu();
      engine.push(
        await together(options, (nth) =>
          runEngineWave(stage, wave, `${options.name}-${round}-${nth}`),
        ),
      );
      const after = await stage.readCpu();
      if (before !== null && after !== null) cpu.push(subtract(after, before));
    };
    const measureFloor = async (): Promise<void> => {
      floor.push(
        await together(options, (nth) =>
          stage.floor.wave(wave, `floor-${options.name}-${round}-${nth}`),
        ),
      );
    };
    const order = round % 2 === 0 ? [measureFloor, measureEngine] : [measureEngine, measureFloor];
    for (const measure of order) {
      // oxlint-disable-next-line no-await-in-loop
      await sleep(settleMs);
      // oxlint-disable-next-line no-await-in-loop
      await measure();
    }
  }
  return {
    engineMs: summarise(engine),
    floorMs: summarise(floor),
    cpu: describeCpu(cpu, options.together),
  };
}

/** @returns milliseconds until the last of them is done. */
async function together(
  { together: count }: RoundsOptions,
  run: (nth: number) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, (_, index) => run(index + 1)));
  return performance.now() - startedAt;
}

function subtract(after: CpuReading, before: CpuReading): CpuReading {
  return {
    server: after.server - before.server,
    worker: after.worker - before.worker,
    model: after.model - before.model,
  };
}

function describeCpu(readings: readonly CpuReading[], waves: number): string {
  if (readings.length === 0) return '';
  const mean = (of: keyof CpuReading): string =>
    formatNumber(readings.reduce((sum, one) => sum + one[of], 0) / readings.length / waves);
  return `CPU of a wave: server ${mean('server')} ms, worker ${mean('worker')} ms, model ${mean('model')} ms.`;
}
