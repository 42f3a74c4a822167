import type { RecordDeps } from './deps.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { treePaths } from '../projection/paths.ts';

/** Stored results of an ended run. */
export interface StoredResult {
  /** Text of `result.md`: the answer, with notes about it. */
  readonly result_md: string;
  /** Text of `report.md`, which explains how the answer was produced. */
  readonly report_md: string;
  /** Their paths below the artifact home. */
  readonly result_path: string;
  readonly report_path: string;
}

/**
 * Reads the end of a run from the store: the files themselves are a projection, and may be missing.
 *
 * @returns null when the index does not have the run, or the run has no result yet.
 */
export async function readStoredResult(
  { store, index, projection }: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<StoredResult | null> {
  const { ref } = await index.read(runId);
  if (ref === null) return null;
  const { result_ref, report_ref } = await readRecord(store, ref);
  if (result_ref === null || report_ref === null) return null;
  const root = projection.rootOf(runId);
  return {
    result_md: await store.getText(result_ref),
    report_md: await store.getText(report_ref),
    result_path: `${root}/${treePaths.result}`,
    report_path: `${root}/${treePaths.report}`,
  };
}
