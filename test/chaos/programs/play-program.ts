import type { Prng } from '../../support/prng.ts';
import type { Lane } from '../lane.ts';
import { playReference } from '../play-reference.ts';
import type { PlayedReference } from '../play-reference.ts';
import { playTrial } from '../play-trial.ts';
import type { Breach } from '../run-model.ts';
import type { Blow, Strike } from '../strike.ts';
import { addTrial, createTally } from '../tally.ts';
import type { Tally } from '../tally.ts';
import { toRun } from './generate-program.ts';
import type { Program } from './generate-program.ts';

/** A blow, and the part of the undisturbed run's events after which it comes, from 0 to 1. */
export interface PlannedBlow {
  readonly at: number;
  readonly blow: Blow;
}

/** A program, and what is done to it. */
export interface Trial {
  /** Unique in the campaign. */
  readonly name: string;
  readonly program: Program;
  readonly blows: readonly PlannedBlow[];
  readonly modelFaultChance: number;
  readonly random: Prng;
}

/** Kinds of blows: as often as they stand here. */
const blowKinds: readonly ((random: Prng) => Blow)[] = [
  () => ({ type: 'kill worker' }),
  () => ({ type: 'kill worker' }),
  (random) => ({ type: 'kill worker', again: [random.integer(0, 3_000)] }),
  (random) => ({ type: 'kill worker', again: [random.integer(0, 500), random.integer(0, 2_000)] }),
  (random) => ({ type: 'kill worker', clockOffsetMs: random.integer(60_000, 3_600_000) }),
  () => ({ type: 'kill worker', otherVersion: true }),
  () => ({ type: 'kill worker and server' }),
  (random) => dieAtWrite(random, 'before'),
  (random) => dieAtWrite(random, 'after'),
  (random) => dieAtWrite(random, 'torn'),
  (random) => ({ type: 'fill the disk', nth: random.integer(1, 10) }),
  (random) => ({ type: 'flood', signals: random.integer(50, 300) }),
  (random) => ({ type: 'reset', to: random.next() }),
  (random) => ({ type: 'pause', ms: random.integer(1_000, 8_000), relief: random.chance(0.5) }),
];

function dieAtWrite(random: Prng, what: 'before' | 'after' | 'torn'): Blow {
  return { type: 'die at a write', what, nth: random.integer(1, 25) };
}

/** Chooses what is done to a run: five to eight blows, most of them with work between them. */
export function chooseBlows(random: Prng): PlannedBlow[] {
  const count = random.integer(5, 8);
  const blows = Array.from({ length: count }, (_one, index) => ({
    at: (index + random.next()) / count,
    blow: random.pick(blowKinds)(random),
  }));
  // After a stop nothing is left to be hurt.
  const last = blows.at(-1);
  return last !== undefined && random.chance(stopChance)
    ? blows.with(count - 1, { ...last, blow: { type: 'stop' } })
    : blows;
}

const stopChance = 0.08;

/** Bytes by which a hurt run may be larger than the undisturbed one: what killed attempts, retries and floods leave. */
const storeFactorMax = 4;
const storeBytesFree = 2_000_000;

/**
 * Plays the program without harm and then hurts it.
 *
 * @param known The undisturbed run, if it was played before.
 */
export async function playProgram(
  lane: Lane,
  trial: Trial,
  known?: PlayedReference,
): Promise<{ readonly reference: PlayedReference; readonly tally: Tally }> {
  const reference =
    known ?? (await playReference(lane, toRun(trial.program, lane), `${trial.name}-calm`));
  const played = await playTrial(lane, {
    name: trial.name,
    run: reference.run,
    strikes: placeBlows(reference, trial.blows),
    answering: trial.random.fork('style').chance(0.5) ? 'at once' : 'one by one',
    modelFaultChance: trial.modelFaultChance,
    random: trial.random,
    strikesLate: true,
    isHomeUsed: true,
  });
  const tally = createTally();
  addTrial(tally, reference, played);
  const bytesMax = storeFactorMax * reference.storeBytes + storeBytesFree;
  const more: Breach[] = played.stalls.map((text) => ({ kind: 'stalled', text }));
  if (played.storeBytes > bytesMax) {
    const text = `${played.storeBytes} bytes, at most ${bytesMax}`;
    more.push({ kind: 'store too large', text });
  }
  tally.breaches.push(...more.map((breach) => ({ ...breach, run: trial.name })));
  return { reference, tally };
}

/** Finds the events at which the blows come. The last event ends the run: nothing is left to be hurt then. */
export function placeBlows(
  { events }: Pick<PlayedReference, 'events'>,
  blows: readonly PlannedBlow[],
): Strike[] {
  return blows.flatMap(({ at, blow }) => {
    const moment = events[Math.floor(at * (events.length - 1))];
    return moment === undefined ? [] : [{ moment, blow }];
  });
}
