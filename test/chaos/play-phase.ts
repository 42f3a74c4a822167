import type { AnsweringStyle } from './answering.ts';
import type { Part } from './campaign-options.ts';
import type { Lane } from './lane.ts';
import type { Phase, PlannedHarm } from './phases/phase.ts';
import type { Moments, PlayedReference } from './play-reference.ts';
import { playTrial } from './play-trial.ts';
import type { PlayedTrial, TrialPlan } from './trial.ts';
import type { Prng } from '../support/prng.ts';
import type { Breach } from './run-model.ts';
import type { ReferenceRun } from './runs/reference-run.ts';
import { describeStrike } from './strike.ts';
import { addTrial, createTally } from './tally.ts';
import type { Tally } from './tally.ts';

export interface PhaseRun {
  readonly phase: Phase;
  /** Unique in the campaign: it names the runs. */
  readonly name: string;
  readonly lanes: readonly Lane[];
  readonly reference: PlayedReference;
  /** Which of its moments are hurt. If undefined, all. */
  readonly moments?: Moments;
  readonly random: Prng;
  readonly blows: number;
  /** Which of the planned runs are played; null or undefined: all. */
  readonly part?: Part | null;
  /** @param found What was broken in this run. */
  readonly onPlayed: (played: PlayedTrial, left: number, found: readonly Breach[]) => void;
}

/** A moment that was missed this often never comes. */
const attemptsMax = 4;

interface QueuedTrial {
  readonly plan: TrialPlan;
  readonly attempt: number;
}

/** Plays all runs of a phase, on every lane one after the other. What missed its moment gets a run of its own. */
export async function playPhase(options: PhaseRun): Promise<Tally> {
  const {
    phase,
    name,
    lanes,
    reference,
    moments = reference,
    random,
    blows,
    part = null,
  } = options;
  const tally = createTally();
  const planned = phase.plan(moments, blows, random.fork('plan')).map((harm, index) => ({
    plan: toTrial(harm, `${name}-${index + 1}`, reference.run, random),
    attempt: 1,
  }));
  // Each part has moments of the whole run, so that a part alone says something about it.
  const queue = planned.filter((_, at) => part === null || at % part.of === part.nth - 1);
  const work = async (lane: Lane): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        const played = await playTrial(lane, next.plan);
        const before = tally.breaches.length;
        addTrial(tally, reference, played);
        const found = tally.breaches.slice(before);
        queue.push(...replan(next, played, tally));
        options.onPlayed(played, queue.length, found);
      } catch (error) {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        tally.breaches.push({ kind: 'campaign failed', run: next.plan.name, text });
      }
    }
  };
  await Promise.all(lanes.map(work));
  return tally;
}

function toTrial(harm: PlannedHarm, name: string, run: ReferenceRun, random: Prng): TrialPlan {
  const own = random.fork(name);
  const { answering = pickStyle(own.fork('style')), ...planned } = harm;
  return { name, run, ...planned, answering, random: own };
}

/** Half of the runs get their answers while no worker runs. */
function pickStyle(random: Prng): AnsweringStyle {
  return random.chance(0.5) ? 'while away' : random.pick(['at once', 'shuffled']);
}

function replan({ plan, attempt }: QueuedTrial, played: PlayedTrial, tally: Tally): QueuedTrial[] {
  const missed = plan.strikes.filter((strike) => !played.fired.includes(strike));
  if (attempt === attemptsMax) {
    tally.unreached.push(...missed.map(describeStrike));
    return [];
  }
  // First together, which is sooner; then one in a run, which is like the undisturbed one until the strike comes.
  const groups = attempt === 1 && missed.length > 0 ? [missed] : missed.map((strike) => [strike]);
  return groups.map((strikes, index) => {
    const name = `${plan.name}-again${index + 1}`;
    const again = { ...plan, name, strikes, answering: 'plain' as const };
    return { plan: { ...again, random: plan.random.fork(name) }, attempt: attempt + 1 };
  });
}
