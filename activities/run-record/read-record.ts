import type { Ref } from '../../contracts/ref.ts';
import { runRecordVersions } from '../../contracts/run-record.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readJson } from '../tools/read-artifact.ts';

/**
 * @throws {ArtifactCorrupt} when the record is missing, damaged, or of an unknown version, which the message names.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readRecord(store: ArtifactStore, ref: Ref): Promise<RunRecord> {
  const value = await readJson(store, ref);
  if (isKnownRecord(value)) return value;
  const version =
    typeof value === 'object' && value !== null && 'version' in value ? value.version : null;
  const found = version === null ? 'has no version' : `has version ${JSON.stringify(version)}`;
  throw new ArtifactCorrupt(
    `The run record ${ref} ${found}; this planwave reads ${runRecordVersions.join(', ')}. Try: the planwave that wrote it, or a newer one.`,
    { ref, path: ref },
  );
}

/** Checks the version only: planwave alone writes records, and the address proves that one is unchanged. */
function isKnownRecord(value: unknown): value is RunRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    runRecordVersions.some((known) => known === value.version)
  );
}
