/** Does work in one of so many places, in the order of asking. */
export type InPlace = <T>(work: () => Promise<T>) => Promise<T>;

/** @param count How much may be under way at the same time. */
export function createPlaces(count: number): InPlace {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
