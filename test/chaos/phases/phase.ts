import type { AnsweringStyle } from '../answering.ts';
import type { Moments } from '../play-reference.ts';
import type { TrialPlan } from '../trial.ts';
import type { Prng } from '../../support/prng.ts';
import type { Strike } from '../strike.ts';

/** One kind of harm, as single runs that are hurt one by one. */
export interface Phase {
  /** One sentence for the report: what is done. */
  readonly title: string;
  /** Whether it kills the Temporal server, so that it needs one for itself. */
  readonly killsServer: boolean;
  /** How many blows it deals when every moment gets its one. */
  readonly countBlows: (moments: Moments) => number;
  /** The runs for about so many blows. */
  readonly plan: (moments: Moments, blows: number, random: Prng) => readonly PlannedHarm[];
}

/** Harm to one run. */
export interface PlannedHarm extends Pick<
  TrialPlan,
  'strikes' | 'strikesLate' | 'modelFaultChance'
> {
  /** Default: half of the runs get their answers while no worker runs, the others at once or all together. */
  readonly answering?: AnsweringStyle;
}

/** So many of the list in an order of chance: each at most once more often than any other. */
export function takeRound<T>(list: readonly T[], count: number, random: Prng): T[] {
  const taken: T[] = [];
  while (taken.length < count && list.length > 0) {
    taken.push(...random.shuffle(list).slice(0, count - taken.length));
  }
  return taken;
}

/** So many of the moments as `takeRound` takes, in the order in which the run reaches them. */
export function takeInOrder<T>(moments: readonly T[], count: number, random: Prng): T[] {
  const taken = takeRound(moments, count, random);
  return moments.flatMap((moment) => taken.filter((one) => one === moment));
}

/** @returns the deaths of one run: at least so many, and in a long run one for so many of its writes. */
export function blowsPerRun({ events }: Moments, min: number, writesPerBlow: number): number {
  return Math.max(min, Math.round(events.length / writesPerBlow));
}

/**
 * Puts strikes, which are given in the order of the undisturbed run, together to runs: those of one run lie far apart,
 * so that it has gone on from one before the next.
 */
export function spread(strikes: readonly Strike[], perRun: number): Strike[][] {
  const runs = Math.ceil(strikes.length / perRun);
  return Array.from({ length: runs }, (_one, run) =>
    strikes.filter((_strike, index) => index % runs === run),
  );
}
