import type { Strike } from '../strike.ts';
import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

/** Deaths of one run: at least two, and in a long run one for so many of its writes. */
const blowsPerRunMin = 2;
const writesPerBlow = 120;

const blow = { type: 'kill worker and server' } as const;

export const withServer: Phase = {
  title: 'kill -9 of the Temporal server and the worker together, at history events and in calls',
  killsServer: true,
  countBlows: () => 20,
  plan({ events, calls }, blows, random) {
    const moments = [
      ...takeRound(events, Math.ceil((blows * 2) / 3), random),
      ...takeRound(calls, Math.floor(blows / 3), random).map(
        (call) => ({ at: 'call', call, stage: 'waiting' }) as const,
      ),
    ];
    const strikes = random.shuffle(moments).map((moment): Strike => ({ moment, blow }));
    const blowsPerRun = Math.max(blowsPerRunMin, Math.round(events.length / writesPerBlow));
    return spread(strikes, blowsPerRun).map((some) => ({ strikes: some, modelFaultChance: 0 }));
  },
};
