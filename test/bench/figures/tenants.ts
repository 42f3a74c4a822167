import { setTimeout as sleep } from 'node:timers/promises';
import type { Priority } from '@temporalio/common';
import { equalWave } from '../bench-wave.ts';
import type { BenchStage } from '../bench-stage.ts';
import { runEngineWave } from '../engine-wave.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';

const taskQueue = 'tenants';
/** Model calls that all workers together may start in a second: so few that calls wait for the rate, not for the processor. */
const rate = 5;
/** Waves that the greedy tenant has open all the time: 24 calls that come again as soon as they are answered. */
const greedyWaves = 8;
const delayMs = 1_000;
const ratioMax = 1.5;
/** Milliseconds that the greedy waves work before another one comes: then their calls queue. */
const queuesMs = 5_000;

/** Each round is four waves of some seconds. */
const roundShare = 10;

const greedyWave = equalWave({ delegations: 3, turns: 3, by: 'pause', delayMs });
/** One call after the other: half of the rate is more than it wants. */
const wave = equalWave({ delegations: 1, turns: 4, by: 'pause', delayMs });

/** Tenants take turns within a partition of a queue, and the rate is that of a partition. */
const serverArguments = [
  'matching.enableFairness=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
].map((setting) => `--dynamic-config-value=${setting}`);

/** Ways in which a wave comes beside those of the greedy tenant. */
const guests: readonly {
  readonly name: string;
  readonly priority: Priority;
  readonly isPromised: boolean;
}[] = [
  { name: 'of the same tenant', priority: { fairnessKey: 'greedy' }, isPromised: false },
  { name: 'of another tenant', priority: { fairnessKey: 'modest' }, isPromised: true },
  {
    name: 'of another tenant with priority 1',
    priority: { fairnessKey: 'modest', priorityKey: 1 },
    isPromised: true,
  },
];

/** The time of a wave is divided by that of the same wave alone, in the same round. */
export const tenants: Figure = {
  name: 'tenants',
  about: `a wave beside ${greedyWaves} waves of a greedy tenant, ${rate} calls a second for all, ${formatNumber(delayMs)} ms a call`,
  measure: ({ rounds, sizeOf, say, withStage }) =>
    withStage(async (stage) => {
      const env = { PLANWAVE_MODEL_RATE: String(rate) };
      await stage.addWorkers({ taskQueue, count: 2, env });
      const place = { client: stage.client, taskQueue };
      await runEngineWave(place, wave, 'warm-up');
      const count = Math.ceil(rounds / roundShare);
      say(`${count} rounds …`);
      const alone: number[] = [];
      const beside = guests.map((): number[] => []);
      for (let round = 1; round <= count; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- the rounds would measure each other
        const taken = await playRound(place, round, sizeOf(greedyWaves));
        alone.push(taken.alone);
        taken.guests.forEach((ms, nth) => beside[nth]?.push(ms / taken.alone));
      }
      return guests.map((guest, nth) => rowOf(guest, beside[nth] ?? [], alone));
    }, serverArguments),
};

/** @returns milliseconds of a wave alone, and of one for each kind of guest beside the greedy ones. */
async function playRound(
  place: Pick<BenchStage, 'client' | 'taskQueue'>,
  round: number,
  greedy: number,
): Promise<{ readonly alone: number; readonly guests: readonly number[] }> {
  const alone = await runEngineWave(place, wave, `alone-${round}`, { fairnessKey: 'modest' });
  const crowd = { isOver: false };
  const play = async (lane: number): Promise<void> => {
    for (let nth = 1; !crowd.isOver; nth += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await runEngineWave(place, greedyWave, `greedy-${round}-${lane}-${nth}`, {
        fairnessKey: 'greedy',
      });
    }
  };
  const playing = Promise.all(Array.from({ length: greedy }, (_, lane) => play(lane)));
  const taken: number[] = [];
  await sleep(queuesMs);
  for (const [nth, { priority }] of guests.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- at the same time they would measure each other
    taken.push(await runEngineWave(place, wave, `guest-${round}-${nth}`, priority));
  }
  crowd.isOver = true;
  await playing;
  return { alone, guests: taken };
}

function rowOf(
  { name, isPromised }: (typeof guests)[number],
  ratios: readonly number[],
  aloneMs: readonly number[],
): FigureRow {
  const ratio = summarise(ratios);
  const alone = summarise(aloneMs);
  return {
    figure: `a wave ${name}, beside ${greedyWaves} waves of a greedy tenant at ${rate} calls a second for all`,
    target: isPromised ? `≤ ${ratioMax} × alone` : '',
    measured: formatSummary(ratio, '×'),
    floor: '',
    reached: isPromised ? ratio.median <= ratioMax : null,
    notes: `Alone: ${formatSummary(alone, 'ms')}. Two workers, one partition of the queue, matching.enableFairness.`,
    numbers: { ratio, alone_ms: alone },
  };
}
