import type { Strike } from '../strike.ts';
import { blowsPerRun, spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

const blow = { type: 'kill worker and server' } as const;

export const withServer: Phase = {
  title: 'kill -9 of the Temporal server and the worker together, at history events and in calls',
  killsServer: true,
  countBlows: () => 20,
  plan(moments, blows, random) {
    const struck = [
      ...takeRound(moments.events, Math.ceil((blows * 2) / 3), random),
      ...takeRound(moments.calls, Math.floor(blows / 3), random).map(
        (call) => ({ at: 'call', call, stage: 'waiting' }) as const,
      ),
    ];
    const strikes = random.shuffle(struck).map((moment): Strike => ({ moment, blow }));
    return spread(strikes, blowsPerRun(moments, 2, 120)).map((some) => ({
      strikes: some,
      modelFaultChance: 0,
    }));
  },
};
