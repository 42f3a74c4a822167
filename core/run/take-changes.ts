import type { RecordChange } from '../../contracts/run-record.ts';
import { engineLimits } from '../limits.ts';

/**
 * Takes the oldest changes that one write of the record may carry: as an input of an activity they share one payload,
 * and the server refuses the whole workflow task if it is larger. The first change is always taken, and so is one that
 * begins within the limit: each alone is bounded.
 */
export function takeChanges(queue: readonly RecordChange[]): readonly RecordChange[] {
  let chars = 0;
  const end = queue.findIndex((change) => {
    const isFull = chars >= engineLimits.recordChangeCharsMax;
    chars += JSON.stringify(change).length;
    return isFull;
  });
  return queue.slice(0, Math.min(end < 0 ? queue.length : end, engineLimits.recordChangesMax));
}
