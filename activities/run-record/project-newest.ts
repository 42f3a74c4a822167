import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import type { RecordDeps } from './deps.ts';

/**
 * Rewrites the readable tree from the newest indexed record, and repeats while another worker publishes a newer one.
 *
 * @param outrun A record whose files may be in the tree: after a reset it may have others. Null when there is none.
 * @param read Returns the record of a reference; null writes nothing for it.
 * @returns the number of written files; null when the index has no record of the run, or none that was read.
 * @throws {StoreUnavailable} when the store can't be read or the tree not be written.
 */
export async function projectNewest(
  { store, index, projection }: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
  outrun: RunRecord | null,
  read: (ref: Ref) => Promise<RunRecord | null>,
): Promise<number | null> {
  let before = outrun;
  for (;;) {
    const { ref, version } = await index.read(runId);
    const record = ref === null ? null : await read(ref);
    let files: number | null = null;
    if (record !== null) {
      if (before !== null) await removeReplacedFiles(before, record, store, projection);
      files = await projectRun(record, store, projection, 'all');
      before = record;
    }
    if ((await index.read(runId)).version === version) return files;
  }
}
