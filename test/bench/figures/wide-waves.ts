import type { BenchStage } from '../bench-stage.ts';
import { equalWave } from '../bench-wave.ts';
import type { BenchWave } from '../bench-wave.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatList, formatNumber } from '../format.ts';
import { readHistorySize } from '../history-size.ts';
import { spreadOf } from '../statistics.ts';
import { measureRounds, warmUp } from '../wave-rounds.ts';
import type { WaveRounds } from '../wave-rounds.ts';

const widths = [10, 25, 50];
const parallel = 50;
const spreadMax = 1.5;

/** A round of 50 delegations is as much work as five usual waves. */
const roundShare = 4;

interface Point {
  readonly delegations: number;
  readonly rounds: WaveRounds;
  /** Extra time over the floor per delegation. */
  readonly engineMs: number;
  readonly bytes: number;
}

export const wideWaves: Figure = {
  name: 'delegations',
  about: 'engine ms and history bytes a delegation, in waves of 10, 25 and 50 delegations',
  measure: ({ rounds, sizeOf, say, withStage }) =>
    withStage(async (stage) => {
      await warmUp(stage);
      const points: Point[] = [];
      for (const delegations of widths.map(sizeOf)) {
        say(`${delegations} delegations …`);
        // One wave after the other.
        // oxlint-disable-next-line no-await-in-loop
        points.push(await measurePoint(stage, delegations, Math.ceil(rounds / roundShare)));
      }
      return toRows(points);
    }),
};

async function measurePoint(
  stage: BenchStage,
  delegations: number,
  rounds: number,
): Promise<Point> {
  const wave: BenchWave = equalWave({
    delegations,
    turns: 1,
    by: 'pause',
    delayMs: 0,
    parallel: Math.min(parallel, delegations),
  });
  const name = `wide-${delegations}`;
  const measured = await measureRounds(stage, wave, { name, rounds, together: 1 });
  const { bytes } = await readHistorySize(stage.client, `${name}-1-1`);
  const { engineMs, floorMs } = measured;
  return {
    delegations,
    rounds: measured,
    engineMs: (engineMs.median - floorMs.median) / delegations,
    bytes: bytes / delegations,
  };
}

function toRows(points: readonly Point[]): FigureRow[] {
  const sizes = points.map(({ delegations }) => formatNumber(delegations)).join(' / ');
  const row = (
    what: string,
    unit: string,
    values: readonly number[],
  ): Pick<FigureRow, 'figure' | 'target' | 'measured' | 'reached'> => {
    const spread = spreadOf(values);
    return {
      figure: `${what} a delegation, in waves of ${sizes}`,
      target: `flat within ${spreadMax} ×`,
      measured: `${formatList(values)} ${unit}; largest ${formatNumber(spread)} × smallest`,
      reached: spread <= spreadMax,
    };
  };
  const wholes = points.map(({ rounds }) => rounds.engineMs.median);
  return [
    {
      ...row(
        'engine time of',
        'ms',
        points.map(({ engineMs }) => engineMs),
      ),
      floor: `${formatList(points.map(({ delegations, rounds }) => rounds.floorMs.median / delegations))} ms`,
      notes: `Whole waves: ${formatList(wholes)} ms, ${parallel} delegations at a time.`,
      numbers: Object.fromEntries(
        points.flatMap(({ delegations, rounds, engineMs }) => [
          [`wave_ms_${delegations}`, rounds.engineMs],
          [`floor_ms_${delegations}`, rounds.floorMs],
          [`engine_ms_per_delegation_${delegations}`, engineMs],
        ]),
      ),
    },
    {
      ...row(
        'history of',
        'bytes',
        points.map(({ bytes }) => bytes),
      ),
      floor: '',
      notes: 'Over all workflows of the wave.',
      numbers: Object.fromEntries(
        points.map(({ delegations, bytes }) => [`bytes_per_delegation_${delegations}`, bytes]),
      ),
    },
  ];
}
