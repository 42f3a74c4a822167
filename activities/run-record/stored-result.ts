import type { RecordDeps } from './deps.ts';
import { readRecord } from './read-record.ts';

/**
 * The text of a run's `result.md` from the store: the file itself is a projection, and may be gone.
 *
 * @returns null when the index does not have the run, or the run has no result yet.
 */
export async function readStoredResult(
  deps: Pick<RecordDeps, 'store' | 'index'>,
  runId: string,
): Promise<string | null> {
  const { ref } = await deps.index.read(runId);
  if (ref === null) return null;
  const { result_ref } = await readRecord(deps.store, ref);
  return result_ref === null ? null : deps.store.getText(result_ref);
}
