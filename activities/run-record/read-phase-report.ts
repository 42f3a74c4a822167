import type { Ref } from '../../contracts/ref.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readJson } from '../tools/read-artifact.ts';

/**
 * @throws {ArtifactCorrupt} when the report is missing, damaged, or of a version that this reader does not know.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readPhaseReport(store: ArtifactStore, ref: Ref): Promise<PhaseReport> {
  const value = await readJson(store, ref);
  if (isKnownReport(value)) return value;
  throw new ArtifactCorrupt(
    `The artifact ${ref} is no report of a triad's phase that this planwave reads. Try: the planwave that wrote it, or a newer one.`,
    { ref, path: ref },
  );
}

/** Its shape follows from its version: nobody but us writes one, and its address proves that it is unchanged. */
function isKnownReport(value: unknown): value is PhaseReport {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === 1 &&
    'phase' in value
  );
}
