import { findBrokenPromises } from './find-broken-promises.ts';
import type { Allowance, PlayedStage } from './find-broken-promises.ts';
import type { StoredHistory } from './histories.ts';

/**
 * Checks the promises at the end of every fault test, see `findBrokenPromises`.
 *
 * Other runs of the same home may have named an artifact too, so tests may share a stage.
 */
export async function expectPromisesKept(
  stage: PlayedStage,
  rootId: string,
  allowance: Allowance = {},
): Promise<StoredHistory[]> {
  const { broken, histories } = await findBrokenPromises(stage, rootId, allowance);
  expect(broken).toEqual([]);
  return histories;
}
