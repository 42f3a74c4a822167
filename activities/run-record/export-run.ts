import { listNames } from '../../core/text/list-names.ts';
import type { RecordDeps } from './deps.ts';
import { projectNewest } from './project-newest.ts';
import { readRecord } from '../artifacts/record-log.ts';

export interface ExportedRun {
  readonly files: number;
  /** The run's folder below the artifact home. */
  readonly root: string;
}

/**
 * Rebuilds the readable tree of a run from the index and the store alone, with no server and no worker. If a worker
 * advances the run at the same time, the tree shows the newest record.
 *
 * @throws {UnknownRun} when the index does not have the run; the message lists those it has.
 * @throws {ArtifactCorrupt} when an artifact is missing, damaged, or of an unknown version.
 * @throws {StoreUnavailable} when the store can't be read or the tree not be written.
 */
export async function exportRun(
  deps: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<ExportedRun> {
  const files = await projectNewest(deps, runId, null, (ref) => readRecord(deps.store, ref));
  if (files === null) throw new UnknownRun(runId, await deps.index.list());
  return { files, root: deps.projection.rootOf(runId) };
}

export class UnknownRun extends Error {
  override readonly name = 'UnknownRun';

  constructor(runId: string, known: readonly string[]) {
    const rest =
      known.length === 0 ? 'No run is recorded here.' : `Known runs: ${listNames(known)}.`;
    super(`There is no run ${listNames([runId])}. ${rest}`);
  }
}
