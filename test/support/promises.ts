import { findBrokenPromises } from './find-broken-promises.ts';
import type { Allowance, PlayedStage } from './find-broken-promises.ts';
import { atFileEnd } from './cleanup.ts';
import { createReplayer } from './histories.ts';
import type { StoredHistory } from './histories.ts';

/** Replays for all tests of a file. */
let replayer: ReturnType<typeof createReplayer> | null = null;

function openReplayer(): ReturnType<typeof createReplayer> {
  if (replayer !== null) return replayer;
  const opened = createReplayer();
  replayer = opened;
  atFileEnd(() => {
    replayer = null;
    return opened.close();
  });
  return opened;
}

/**
 * Checks the promises at the end of every fault test, see `findBrokenPromises`.
 *
 * Other runs of the same home may have named an artifact too, so tests may share a stage.
 *
 * @param rootIds one run, or several that have ended: checked together, the home is read once.
 */
export async function expectPromisesKept(
  stage: PlayedStage,
  rootIds: string | readonly string[],
  allowance: Allowance = {},
): Promise<StoredHistory[]> {
  const { broken, histories } = await findBrokenPromises(stage, rootIds, allowance, openReplayer());
  expect(broken).toEqual([]);
  return histories;
}
