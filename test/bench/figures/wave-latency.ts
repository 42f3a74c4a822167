import { countSequentialCalls, equalWave, usualWave } from '../bench-wave.ts';
import type { BenchWave, EqualWave } from '../bench-wave.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { measureRounds, warmUp } from '../wave-rounds.ts';
import type { WaveRounds } from '../wave-rounds.ts';

/** Rounds that wait for a slow model are few: what varies is small against the waiting. */
const slowMs = 500;
const slowShare = 4;

/** Comparison of two medians. */
interface Comparison {
  /** Extra time over the floor per consecutive turn, start and decision included. */
  readonly engineMsPerTurn: number;
  /** The engine's time divided by the floor's. */
  readonly ratio: number;
}

interface Target {
  readonly text: string;
  isReached(comparison: Comparison): boolean;
}

const msPerTurnMax = 15;
const ratioMax = 1.05;

const perTurnTarget: Target = {
  text: `≤ ${msPerTurnMax} ms of engine a turn`,
  isReached: ({ engineMsPerTurn }) => engineMsPerTurn <= msPerTurnMax,
};

const ratioTarget: Target = {
  text: `≤ ${ratioMax} × the floor`,
  isReached: ({ ratio }) => ratio <= ratioMax,
};

function compare(wave: BenchWave, { engineMs, floorMs }: WaveRounds): Comparison {
  return {
    engineMsPerTurn: (engineMs.median - floorMs.median) / countSequentialCalls(wave),
    ratio: engineMs.median / floorMs.median,
  };
}

function createWaveFigure(
  name: string,
  about: string,
  shape: EqualWave,
  target: Target | null,
): Figure {
  return {
    name,
    about,
    measure: ({ rounds, say, withStage }) =>
      withStage(async (stage) => {
        const wave = equalWave(shape);
        await warmUp(stage);
        const count = shape.delayMs < slowMs ? rounds : Math.ceil(rounds / slowShare);
        say(`${count} rounds …`);
        const measured = await measureRounds(stage, wave, { name, rounds: count, together: 1 });
        return [toRow(about, measured, compare(wave, measured), target)];
      }),
  };
}

function toRow(
  figure: string,
  { engineMs, floorMs, cpu }: WaveRounds,
  comparison: Comparison,
  target: Target | null,
): FigureRow {
  const { engineMsPerTurn, ratio } = comparison;
  return {
    figure,
    target: target?.text ?? '',
    measured: `${formatSummary(engineMs, 'ms')}: ${formatNumber(engineMsPerTurn)} ms of engine a turn, ${formatNumber(ratio)} × the floor`,
    floor: formatSummary(floorMs, 'ms'),
    reached: target?.isReached(comparison) ?? null,
    notes: cpu,
    numbers: {
      engine_ms: engineMs,
      floor_ms: floorMs,
      engine_ms_per_turn: engineMsPerTurn,
      ratio,
    },
  };
}

const waveText = 'a wave of 3 delegations × 9 turns';

export const waveFigures: readonly Figure[] = [
  createWaveFigure(
    'wave-1000',
    `${waveText}, 1,000 ms a call`,
    { ...usualWave, delayMs: 1_000 },
    ratioTarget,
  ),
  createWaveFigure(
    'wave-50',
    `${waveText}, 50 ms a call`,
    { ...usualWave, delayMs: 50 },
    perTurnTarget,
  ),
  createWaveFigure('wave-0', `${waveText}, 0 ms a call`, usualWave, perTurnTarget),
  createWaveFigure(
    'wave-tools',
    `${waveText}, each loading a detail before the next, 0 ms a call`,
    { ...usualWave, by: 'tool' },
    null,
  ),
  createWaveFigure(
    'wave-short',
    'a wave of 3 delegations × 1 turn, 0 ms a call',
    { ...usualWave, turns: 1 },
    null,
  ),
];
