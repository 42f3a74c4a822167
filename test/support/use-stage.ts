import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';

/**
 * One stage for all tests of a file. Each begins with an empty script and no calls.
 *
 * @returns the stage by a property, because it is there only when the tests run.
 */
export function useStage(options: StageOptions = {}): { readonly stage: Stage } {
  let opened: Stage | null = null;
  beforeAll(async () => {
    opened = await openStage(options);
  }, 60_000);
  beforeEach(() => opened?.rehearsal.reset());
  afterAll(() => opened?.close());
  return {
    get stage() {
      if (opened === null) throw new Error('The stage opens before the first test of a file.');
      return opened;
    },
  };
}
