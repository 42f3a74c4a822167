import { equalWave, usualWave } from '../bench-wave.ts';
import type { BenchStage } from '../bench-stage.ts';
import { measureInTurns } from '../contest.ts';
import type { Contest, Contestant, ContestResult } from '../contest.ts';
import type { Figure, FigureContext, FigureRow } from '../figure.ts';
import { formatList, formatNumber, formatSummary } from '../format.ts';
import { countHistory } from '../history-size.ts';
import type { HistoryCounts } from '../history-size.ts';
import { withPeers } from '../peers/with-peers.ts';
import type { OpenPeer } from '../peers/with-peers.ts';
import { runTriadWave, triadWave } from '../triad-wave.ts';
import { warmUpWaves } from '../wave-rounds.ts';

const waveText = 'a wave of 3 triads × 3 phases × 3 turns';

/** How slow the model is, in milliseconds a call. */
const delaysMs = [1_000, 50, 0] as const;
/** Waves at the same time. */
const crowds = [1, 20] as const;

/** Rounds of many waves, or that wait for a slow model, are few: they take long and vary less. */
const slowMs = 500;
const longShare = 4;

interface Target {
  readonly text: string;
  isReached(engineMs: number, floorMs: number): boolean;
}

const ratioMax = 1.08;
const aloneMsMax = 300;
const crowdMsMax = 7_000;

/** By delay and waves at the same time. What is not here was not promised. */
const targets: Readonly<Record<string, Target>> = {
  '1000/1': {
    text: `≤ ${ratioMax} × the floor`,
    isReached: (engineMs, floorMs) => engineMs <= ratioMax * floorMs,
  },
  '0/1': { text: `< ${aloneMsMax} ms`, isReached: (engineMs) => engineMs < aloneMsMax },
  '0/20': {
    text: `< ${formatNumber(crowdMsMax)} ms`,
    isReached: (engineMs) => engineMs < crowdMsMax,
  },
};

/** One measurement, of everybody. `others` are in the order of the peers. */
interface Point extends Contest<ContestResult> {
  readonly delayMs: number;
  readonly waves: number;
}

export const triads: Figure = {
  name: 'triads',
  about: `${waveText}, alone and ${crowds[1]} at once, beside other engines`,
  measure: (context) =>
    context.withStage((stage) =>
      withPeers(context, stage.model.url, (peers) => measure(context, stage, peers)),
    ),
};

async function measure(
  context: FigureContext,
  stage: BenchStage,
  peers: readonly OpenPeer[],
): Promise<FigureRow[]> {
  await measureInTurns(enter(stage, peers, 0), {
    name: 'warm-up',
    rounds: warmUpWaves,
    together: 1,
  });
  const points: Point[] = [];
  for (const waves of crowds) {
    for (const delayMs of delaysMs) {
      // One after the other: they would measure each other.
      // oxlint-disable-next-line no-await-in-loop
      points.push(await measurePoint(context, stage, peers, delayMs, waves));
    }
  }
  const counts = await countHistory(stage.client, 'triads-0-1-1-1');
  return [
    ...points.map(toEngineRow),
    ...peers.flatMap((peer, at) =>
      crowds.map((waves) =>
        toPeerRow(
          peer,
          at,
          points.filter((point) => point.waves === waves),
        ),
      ),
    ),
    toHistoryRow(counts),
  ];
}

async function measurePoint(
  { rounds, sizeOf, say }: FigureContext,
  stage: BenchStage,
  peers: readonly OpenPeer[],
  delayMs: number,
  waves: number,
): Promise<Point> {
  const name = `triads-${delayMs}-${waves}`;
  const shares = (delayMs < slowMs ? 1 : longShare) * (waves === 1 ? 1 : longShare);
  const count = Math.ceil(rounds / shares);
  say(`${name}: ${count} rounds …`);
  const results = await measureInTurns(enter(stage, peers, sizeOf(delayMs)), {
    name,
    rounds: count,
    together: sizeOf(waves),
  });
  return { ...results, delayMs, waves };
}

/** The engine, the floor and the other engines, with the same 28 calls to the same model. */
function enter(
  stage: BenchStage,
  peers: readonly OpenPeer[],
  delayMs: number,
): Contest<Contestant> {
  const wave = triadWave(delayMs);
  const plain = equalWave({ ...usualWave, delayMs });
  return {
    engine: { wave: (key) => runTriadWave(stage, wave, key), readCpu: () => stage.readCpu() },
    floor: { wave: (key) => stage.floor.wave(plain, `floor-${key}`) },
    others: peers.map((peer) => ({
      wave: (key) => peer.wave(plain, `${peer.id}-${key}`),
      readCpu: () => peer.readCpu(),
    })),
  };
}

function toEngineRow({ delayMs, waves, engine, floor }: Point): FigureRow {
  const [engineMs, floorMs] = [engine.ms.median, floor.ms.median];
  const target = targets[`${delayMs}/${waves}`];
  return {
    figure: `${describeWaves(waves)}, ${formatNumber(delayMs)} ms a call`,
    target: target?.text ?? '',
    measured: `${formatSummary(engine.ms, 'ms')}, ${formatNumber(engineMs / floorMs)} × the floor`,
    floor: formatSummary(floor.ms, 'ms'),
    reached: target?.isReached(engineMs, floorMs) ?? null,
    notes: engine.cpu,
    numbers: { engine_ms: engine.ms, floor_ms: floor.ms, ratio: engineMs / floorMs },
  };
}

function toPeerRow({ title, postgres }: OpenPeer, at: number, points: readonly Point[]): FigureRow {
  const results = points.flatMap(({ delayMs, floor, others }) => {
    const result = others[at];
    return result === undefined ? [] : [{ delayMs, result, floor }];
  });
  const list = formatList(results.map(({ delayMs }) => delayMs));
  const medians = (of: (one: (typeof results)[number]) => ContestResult): string =>
    `${formatList(results.map((one) => of(one).ms.median))} ms`;
  return {
    figure: `${describeWaves(points[0]?.waves ?? 1)} in ${title}, ${list} ms a call`,
    target: '',
    measured: medians(({ result }) => result),
    floor: medians(({ floor }) => floor),
    reached: null,
    notes: `${postgres}. ${results.at(-1)?.result.cpu ?? ''}`,
    numbers: Object.fromEntries(
      results.map(({ delayMs, result }) => [`peer_ms_at_${delayMs}`, result.ms]),
    ),
  };
}

function toHistoryRow(counts: HistoryCounts): FigureRow {
  const { events, bytes, workflows, workflowTasks, activities, signals, timers } = counts;
  return {
    figure: `history of ${waveText}`,
    target: '',
    measured: `${formatNumber(events)} events, ${formatNumber(workflowTasks)} workflow tasks, ${formatNumber(activities)} activities`,
    floor: '',
    reached: null,
    notes: `Over ${workflows} workflows: ${formatNumber(bytes)} bytes, ${signals} signals, ${timers} timers.`,
    numbers: { ...counts },
  };
}

function describeWaves(waves: number): string {
  return waves === 1 ? waveText : `${waves} such waves at once`;
}
