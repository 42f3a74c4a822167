import type { AnsweringStyle } from '../answering.ts';
import { spread, takeRound } from './phase.ts';
import type { Phase } from './phase.ts';

export const modelFaults: Phase = {
  title:
    'faults of the model in about a third of the calls, with a kill -9 of the worker at an event of each run',
  killsServer: false,
  countBlows: () => 8,
  plan: ({ events }, blows, random) =>
    spread(
      takeRound(events, blows, random).map((moment) => ({
        moment,
        blow: { type: 'kill worker' } as const,
      })),
      1,
    ).map((strikes) => ({ strikes, modelFaultChance: 0.35 })),
};

const styles: readonly AnsweringStyle[] = ['at once', 'shuffled', 'while away'];

export const answers: Phase = {
  title:
    'duplicate, late and shuffled answers, a third of the runs without a worker to receive them',
  killsServer: false,
  countBlows: () => 4,
  // One run in three costs a death.
  plan: (_moments, blows, random) =>
    takeRound(styles, 3 * blows, random).map((answering) => ({
      strikes: [],
      modelFaultChance: 0,
      answering,
    })),
};
