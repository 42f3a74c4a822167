import { condition } from '@temporalio/workflow';
import { inBackground } from './in-background.ts';

/**
 * @param show Shows what has changed. Called at the end of each workflow task that asked for it, once for all its changes.
 * @returns a function that asks for it.
 */
export function createRefresher(show: () => void): () => void {
  let isDirty = true;
  inBackground(async () => {
    for (;;) {
      await condition(() => isDirty);
      isDirty = false;
      show();
    }
  });
  return () => {
    isDirty = true;
  };
}
