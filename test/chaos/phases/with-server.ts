import type { Strike } from '../strike.ts';
import { blowsPerRun, spread, takeInOrder, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

const blow = { type: 'kill worker and server' } as const;

export const withServer: Phase = {
  title: 'kill -9 of the Temporal server and the worker together, at history events and in calls',
  killsServer: true,
  countBlows: () => 20,
  plan(moments, blows, random) {
    const { events, calls } = moments;
    const inCalls = takeRound(calls, Math.min(Math.floor(blows / 3), calls.length), random);
    const strikes = [
      ...takeInOrder(events, blows - inCalls.length, random),
      ...inCalls.map((call) => ({ at: 'call', call, stage: 'waiting' }) as const),
    ].map((moment): Strike => ({ moment, blow }));
    return spread(strikes, blowsPerRun(moments, 2, 60)).map((some) => ({
      strikes: some,
      modelFaultChance: 0,
    }));
  },
};
