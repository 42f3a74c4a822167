import type { BenchStage } from './bench-stage.ts';
import { equalWave, usualWave } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';
import { measureInTurns } from './contest.ts';
import type { ContestOptions } from './contest.ts';
import { runEngineWave } from './engine-wave.ts';
import type { Summary } from './statistics.ts';

/** Waves before the first one that counts: the first ones pay for caches and compilers on all sides. */
export const warmUpWaves = 5;

export interface WaveRounds {
  readonly engineMs: Summary;
  readonly floorMs: Summary;
  /** CPU time of the engine's rounds by process, in words; empty if unknown. */
  readonly cpu: string;
}

/** Lets both sides run until they are warm. */
export async function warmUp(stage: BenchStage): Promise<void> {
  const wave = equalWave(usualWave);
  for (let nth = 1; nth <= warmUpWaves; nth += 1) {
    // Measured one after the other: two at a time would measure each other.
    // oxlint-disable-next-line no-await-in-loop
    await runEngineWave(stage, wave, `warm-up-${nth}`);
    // oxlint-disable-next-line no-await-in-loop
    await stage.floor.wave(wave, `floor-warm-up-${nth}`);
  }
}

/** Measures engine and floor in turns. */
export async function measureRounds(
  stage: BenchStage,
  wave: BenchWave,
  options: ContestOptions,
): Promise<WaveRounds> {
  const { engine, floor } = await measureInTurns(
    {
      engine: { wave: (key) => runEngineWave(stage, wave, key), readCpu: () => stage.readCpu() },
      floor: { wave: (key) => stage.floor.wave(wave, `floor-${key}`) },
      others: [],
    },
    options,
  );
  return { engineMs: engine.ms, floorMs: floor.ms, cpu: engine.cpu };
}
