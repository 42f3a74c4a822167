import type { CallName } from '../call-name.ts';
import type { Strike } from '../strike.ts';
import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

const blowsPerRun = 3;

type Stage = Extract<Strike['moment'], { at: 'call' }>['stage'];

function killsIn(calls: readonly CallName[], stage: Stage): Strike[] {
  return calls.map((call) => ({
    moment: { at: 'call', call, stage },
    blow: { type: 'kill worker' },
  }));
}

export const inCalls: Phase = {
  title: 'kill -9 of the worker inside each model call, before the reply and while it streams',
  killsServer: false,
  countBlows: ({ calls }) => 2 * calls.length,
  plan({ calls }, blows, random) {
    const kills = [...killsIn(calls, 'waiting'), ...killsIn(calls, 'streaming')];
    return spread(takeRound(kills, blows, random), blowsPerRun).map((strikes) => ({
      strikes,
      modelFaultChance: 0,
    }));
  },
};

export const beforeCompletions: Phase = {
  title: 'kill -9 of the worker between each recorded reply and its completion',
  killsServer: false,
  countBlows: ({ calls }) => calls.length,
  plan: ({ calls }, blows, random) =>
    spread(takeRound(killsIn(calls, 'recorded'), blows, random), blowsPerRun).map((strikes) => ({
      strikes,
      modelFaultChance: 0,
    })),
};
