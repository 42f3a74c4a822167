import type { RunRecord } from '../../contracts/run-record.ts';
import { listNames } from '../../core/text/list-names.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import type { RecordDeps } from './deps.ts';
import { readRecord } from './read-record.ts';

export interface ExportedRun {
  readonly files: number;
  /** The run's folder below the artifact home. */
  readonly root: string;
}

/**
 * Rebuilds the readable tree of a run from the index and the store alone, with no server and no worker. Where a worker
 * takes the run further meanwhile, the tree is that of the newest record.
 *
 * @throws {UnknownRun} when the index does not have the run; the message lists those it has.
 * @throws {ArtifactCorrupt} when an artifact is missing, damaged, or of an unknown version.
 * @throws {StoreUnavailable} when the store can't be read or the tree not be written.
 */
export async function exportRun(
  { store, index, projection }: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<ExportedRun> {
  let outrun: RunRecord | null = null;
  for (;;) {
    const { ref, version } = await index.read(runId);
    if (ref === null) throw new UnknownRun(runId, await index.list());
    const record = await readRecord(store, ref);
    // After a reset they may have different files.
    if (outrun !== null) await removeReplacedFiles(outrun, record, store, projection);
    const files = await projectRun(record, store, projection, 'all');
    const isNewest = (await index.read(runId)).version === version;
    if (isNewest) return { files, root: projection.rootOf(runId) };
    outrun = record;
  }
}

export class UnknownRun extends Error {
  override readonly name = 'UnknownRun';

  constructor(runId: string, known: readonly string[]) {
    const rest =
      known.length === 0 ? 'No run is recorded here.' : `Known runs: ${listNames(known)}.`;
    super(`There is no run ${listNames([runId])}. ${rest}`);
  }
}
