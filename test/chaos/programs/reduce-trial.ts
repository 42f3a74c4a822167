import { shrinkProgram } from './generate-program.ts';
import type { Trial } from './play-program.ts';

/** Most trials that are played to find a smaller one. */
const triesMax = 20;

/**
 * Finds a smaller trial that fails too: fewer blows first, which leaves the program as it was, then a smaller program.
 *
 * @param fails Plays a trial. Timing is chance, so a trial that fails once may not fail again; then it stays as large.
 */
export async function reduceTrial(
  trial: Trial,
  fails: (trial: Trial) => Promise<boolean>,
): Promise<Trial> {
  let smallest = trial;
  let tries = 0;
  const takeFirst = async (candidates: readonly Trial[]): Promise<boolean> => {
    for (const candidate of candidates) {
      if (tries === triesMax) return false;
      tries += 1;
      const named = { ...candidate, name: `${trial.name}-smaller-${tries}` };
      if (!(await fails(named))) continue;
      smallest = { ...candidate, name: trial.name };
      return true;
    }
    return false;
  };
  const withFewerBlows = (): Trial[] =>
    smallest.blows.map((_blow, at) => ({ ...smallest, blows: smallest.blows.toSpliced(at, 1) }));
  const withLess = (): Trial[] =>
    shrinkProgram(smallest.program).map((program) => ({ ...smallest, program }));
  while (await takeFirst(withFewerBlows())) {
    // Until every blow is needed.
  }
  if (smallest.modelFaultChance > 0) await takeFirst([{ ...smallest, modelFaultChance: 0 }]);
  while (await takeFirst(withLess())) {
    // Until every part is needed.
  }
  return smallest;
}
