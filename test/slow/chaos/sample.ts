import type { AnsweringStyle } from '../../chaos/answering.ts';
import type { Lane } from '../../chaos/lane.ts';
import { atEvents } from '../../chaos/phases/at-events.ts';
import { beforeCompletions, inCalls } from '../../chaos/phases/in-calls.ts';
import type { Phase } from '../../chaos/phases/phase.ts';
import { playPhase } from '../../chaos/play-phase.ts';
import type { Moments, PlayedReference } from '../../chaos/play-reference.ts';
import type { Strike } from '../../chaos/strike.ts';
import type { Tally } from '../../chaos/tally.ts';
import { createPrng } from '../../support/prng.ts';

/** Seed of the sample. `PLANWAVE_CHAOS_SEED` repeats one that failed. */
export const seed = Number(
  process.env['PLANWAVE_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32),
);

/** Every run came to its end by itself, and each is what its model says. */
export function faultsOf({ breaches, stuck, unreached }: Tally) {
  return { seed, breaches, stuck, unreached };
}

export const noFaults: ReturnType<typeof faultsOf> = {
  seed,
  breaches: [],
  stuck: [],
  unreached: [],
};

/**
 * Plays one run with all strikes: of two that lie close together, the second comes when the run goes on. What misses its
 * moment gets a run of its own.
 */
export function strikeOneRun(
  name: string,
  {
    lane,
    reference,
    strikes,
    answering,
  }: {
    readonly lane: Lane;
    readonly reference: PlayedReference;
    readonly strikes: readonly Strike[];
    readonly answering: AnsweringStyle;
  },
): Promise<Tally> {
  const harm = { strikes, strikesLate: true, modelFaultChance: 0, answering };
  return playPhase({
    phase: {
      title: name,
      killsServer: lane.server !== null,
      countBlows: () => strikes.length,
      plan: () => [harm],
    },
    name,
    lanes: [lane],
    reference,
    random: createPrng(seed),
    blows: strikes.length,
    onPlayed: () => {},
  });
}

/**
 * Plays one run with blows at events, inside calls and between replies and their completions, drawn with the seed. No
 * worker dies before the answers: the titles do not say it.
 *
 * @param moments those of the task that is struck.
 */
export function strikeEachWay(
  name: string,
  {
    lane,
    reference,
    moments,
    blows,
  }: {
    readonly lane: Lane;
    readonly reference: PlayedReference;
    readonly moments: Moments;
    readonly blows: Readonly<Record<'events' | 'calls' | 'completions', number>>;
  },
): Promise<Tally> {
  const draw = (phase: Phase, count: number): readonly Strike[] =>
    phase.plan(moments, count, createPrng(seed)).flatMap(({ strikes }) => strikes);
  const strikes = [
    ...draw(atEvents, blows.events),
    ...draw(inCalls, blows.calls),
    ...draw(beforeCompletions, blows.completions),
  ];
  return strikeOneRun(name, { lane, reference, strikes, answering: 'plain' });
}
