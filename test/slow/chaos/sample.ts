import type { Tally } from '../../chaos/tally.ts';

/** Seed of the sample. `PLANWAVE_CHAOS_SEED` repeats one that failed. */
export const seed = Number(
  process.env['PLANWAVE_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32),
);

/** Every run came to its end by itself, and each is what its model says. */
export function faultsOf({ breaches, stuck, unreached }: Tally) {
  return { seed, breaches, stuck, unreached };
}

export const noFaults: ReturnType<typeof faultsOf> = {
  seed,
  breaches: [],
  stuck: [],
  unreached: [],
};
