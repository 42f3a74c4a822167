import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

const blowsPerRun = 3;

export const atEvents: Phase = {
  title:
    'kill -9 of the worker right after each history event of the run, its wave, its delegations and the phases of its triad',
  killsServer: false,
  countBlows: ({ events }) => events.length,
  plan({ events }, blows, random) {
    const moments = takeRound(events, blows, random);
    const inOrder = events.flatMap((event) => moments.filter((moment) => moment === event));
    const strikes = inOrder.map((moment) => ({ moment, blow: { type: 'kill worker' } as const }));
    return spread(strikes, blowsPerRun).map((some) => ({ strikes: some, modelFaultChance: 0 }));
  },
};
