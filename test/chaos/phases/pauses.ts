import type { Strike } from '../strike.ts';
import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

export const pauses: Phase = {
  title:
    'SIGSTOP of the worker for 2 to 15 s, then SIGCONT, half of the time with a second worker meanwhile',
  killsServer: false,
  countBlows: () => 16,
  plan({ events, calls }, blows, random) {
    const moments = [
      ...takeRound(events, Math.ceil(blows / 2), random),
      ...takeRound(calls, Math.floor(blows / 2), random).map(
        (call) => ({ at: 'call', call, stage: 'waiting' }) as const,
      ),
    ];
    const strikes = random.shuffle(moments).map((moment): Strike => {
      const ms = random.integer(2_000, 15_000);
      return { moment, blow: { type: 'pause', ms, relief: random.chance(0.5) } };
    });
    return spread(strikes, 2).map((some) => ({ strikes: some, modelFaultChance: 0 }));
  },
};
