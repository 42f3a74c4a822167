import { blowsPerRun, spread, takeInOrder } from './phase.ts';
import type { Phase } from './phase.ts';

export const atEvents: Phase = {
  title:
    'kill -9 of the worker right after each write to the history of the run, its wave, its delegations and the phases of its triad',
  killsServer: false,
  countBlows: ({ events }) => events.length,
  plan(moments, blows, random) {
    const { events } = moments;
    const strikes = takeInOrder(events, blows, random).map(
      (moment) => ({ moment, blow: { type: 'kill worker' } }) as const,
    );
    return spread(strikes, blowsPerRun(moments, 3, 60)).map((some) => ({
      strikes: some,
      modelFaultChance: 0,
    }));
  },
};
