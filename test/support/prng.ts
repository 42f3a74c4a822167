import { hashText } from '../../core/text/hash-text.ts';
import { createRandom } from '../../core/evaluation/summary.ts';

/** Repeatable random numbers: the same seed gives the same numbers on every machine. */
export interface Prng {
  /** Returns a number from 0 up to, not including, 1. */
  next(): number;
  /** Returns a whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** Returns true with this probability: 0 never, 1 always. */
  chance(probability: number): boolean;
  /** @throws on an empty list. */
  pick<T>(list: readonly T[]): T;
  /** Returns a copy in another order. */
  shuffle<T>(list: readonly T[]): T[];
  /** Creates an independent generator for one purpose: numbers drawn elsewhere do not change it. */
  fork(name: string): Prng;
}

export function createPrng(seed: number): Prng {
  const next = createRandom(seed);
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick(list) {
      const [one] = list.slice(integer(0, list.length - 1));
      if (one === undefined) throw new Error('There is nothing to pick from.');
      return one;
    },
    shuffle(list) {
      const left = [...list];
      return list.flatMap(() => left.splice(integer(0, left.length - 1), 1));
    },
    fork: (name) => createPrng(Number.parseInt(hashText(`${seed} ${name}`).slice(0, 8), 16)),
  };
}
