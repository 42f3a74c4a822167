import type { BenchStage } from '../bench-stage.ts';
import { equalWave } from '../bench-wave.ts';
import { runEngineWave } from '../engine-wave.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatList, formatNumber } from '../format.ts';
import { readHistorySize } from '../history-size.ts';
import type { HistorySize } from '../history-size.ts';
import { spreadOf } from '../statistics.ts';

/** Turns of the one delegation of a wave. The first is there to be subtracted: start and end of the wave. */
const turnCounts = [1, 10, 90, 1_000];
const bytesPerTurnMax = { further: 1.3 * 1_024, whole: 3 * 1_024 };
const spreadMax = 1.2;

interface Point extends HistorySize {
  readonly turns: number;
}

export const historyGrowth: Figure = {
  name: 'turns',
  about: 'history events and bytes a turn, over all workflows, for 10, 90 and 1,000 turns',
  measure: ({ sizeOf, say, withStage }) =>
    withStage(async (stage) => {
      const points: Point[] = [];
      for (const turns of new Set(turnCounts.map(sizeOf))) {
        say(`${turns} turns …`);
        // One conversation after the other.
        // oxlint-disable-next-line no-await-in-loop
        points.push({ turns, ...(await measurePoint(stage, turns)) });
      }
      return toRows(points);
    }),
};

async function measurePoint(stage: BenchStage, turns: number): Promise<HistorySize> {
  const workflowId = `turns-${turns}`;
  const wave = equalWave({ delegations: 1, turns, by: 'pause', delayMs: 0 });
  await runEngineWave(stage, wave, workflowId);
  return readHistorySize(stage.client, workflowId);
}

/** Cost of each turn between two points. */
interface Step {
  readonly turns: number;
  readonly events: number;
  readonly bytes: number;
}

function toRows(points: readonly Point[]): FigureRow[] {
  const steps = points.slice(1).map((point, index): Step => {
    const before = points[index] ?? point;
    const turns = point.turns - before.turns;
    return {
      turns: point.turns,
      events: (point.events - before.events) / turns,
      bytes: (point.bytes - before.bytes) / turns,
    };
  });
  const wholes = points.slice(1).map(({ turns, events, bytes }): Step => {
    return { turns, events: events / turns, bytes: bytes / turns };
  });
  const spread = spreadOf(steps.map(({ bytes }) => bytes));
  const flat = {
    target: `, flat within ${formatNumber((spreadMax - 1) * 100)} %`,
    measured: `; largest ${formatNumber(spread)} × smallest`,
    reached: spread <= spreadMax,
  };
  return [
    toRow(
      'history of each further turn',
      steps,
      bytesPerTurnMax.further,
      flat,
      'What lies between 1, 10, 90 and 1,000 turns, divided by the turns between them.',
    ),
    // Start, decision and end weigh less the more turns there are, so this one can't be flat.
    toRow(
      'history of a whole wave, divided by its turns',
      wholes,
      bytesPerTurnMax.whole,
      { target: '', measured: '', reached: true },
      'Start, decision and end of the wave are in it.',
    ),
  ];
}

function toRow(
  figure: string,
  steps: readonly Step[],
  bytesMax: number,
  flat: Pick<FigureRow, 'target' | 'measured'> & { readonly reached: boolean },
  notes: string,
): FigureRow {
  const list = (of: keyof Step): string => formatList(steps.map((step) => step[of]));
  const most = Math.max(...steps.map(({ bytes }) => bytes));
  return {
    figure: `${figure}: ${list('turns')} turns`,
    target: `≤ ${formatNumber(bytesMax)} bytes${flat.target}`,
    measured: `${list('bytes')} bytes, ${list('events')} events${flat.measured}`,
    floor: '',
    reached: most <= bytesMax && flat.reached,
    notes,
    numbers: Object.fromEntries(
      steps.flatMap(({ turns, ...step }) => [
        [`bytes_per_turn_${turns}`, step.bytes],
        [`events_per_turn_${turns}`, step.events],
      ]),
    ),
  };
}
