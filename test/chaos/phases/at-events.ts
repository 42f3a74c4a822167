import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

/** Deaths of one run: at least three, and in a long run one for so many of its writes. */
const blowsPerRunMin = 3;
const writesPerBlow = 60;

export const atEvents: Phase = {
  title:
    'kill -9 of the worker right after each write to the history of the run, its wave, its delegations and the phases of its triad',
  killsServer: false,
  countBlows: ({ events }) => events.length,
  plan({ events }, blows, random) {
    const moments = takeRound(events, blows, random);
    const inOrder = events.flatMap((event) => moments.filter((moment) => moment === event));
    const strikes = inOrder.map((moment) => ({ moment, blow: { type: 'kill worker' } as const }));
    const blowsPerRun = Math.max(blowsPerRunMin, Math.round(events.length / writesPerBlow));
    return spread(strikes, blowsPerRun).map((some) => ({ strikes: some, modelFaultChance: 0 }));
  },
};
