import { equalWave, usualWave } from '../bench-wave.ts';
import type { Figure } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { measureRounds, warmUp } from '../wave-rounds.ts';

const waves = 20;
const msMax = 5_000;

/** Each round is as much work as twenty of a single wave. */
const roundShare = 4;

export const manyWaves: Figure = {
  name: 'many-waves',
  about: `${waves} such waves at once, 0 ms a call`,
  measure: ({ rounds, say, withStage }) =>
    withStage(async (stage) => {
      await warmUp(stage);
      const count = Math.ceil(rounds / roundShare);
      say(`${count} rounds …`);
      const { engineMs, floorMs, cpu } = await measureRounds(stage, equalWave(usualWave), {
        name: 'many',
        rounds: count,
        together: waves,
      });
      return [
        {
          figure: manyWaves.about,
          target: `< ${formatNumber(msMax)} ms`,
          measured: formatSummary(engineMs, 'ms'),
          floor: formatSummary(floorMs, 'ms'),
          reached: engineMs.median < msMax,
          notes: `${formatNumber((waves * 1_000) / engineMs.median)} waves a second. ${cpu}`,
          numbers: { engine_ms: engineMs, floor_ms: floorMs },
        },
      ];
    }),
};
