import type { Ref } from '../../contracts/ref.ts';
import type { TeamReport } from '../../contracts/team-run.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readJson } from '../tools/read-artifact.ts';

/**
 * @throws {ArtifactCorrupt} when the report is missing, damaged, or of an unknown version.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readPhaseReport(store: ArtifactStore, ref: Ref): Promise<PhaseReport> {
  const value = await readJson(store, ref);
  if (isPhaseReport(value)) return value;
  throw unknownReport(ref, "a triad's phase");
}

/** @throws like `readPhaseReport`. */
export async function readTeamReport(store: ArtifactStore, ref: Ref): Promise<TeamReport> {
  const value = await readJson(store, ref);
  if (isTeamReport(value)) return value;
  throw unknownReport(ref, 'a team');
}

/** Checks the version only: planwave alone writes reports, and the address proves that one is unchanged. */
function isPhaseReport(value: unknown): value is PhaseReport {
  return isOfVersion1(value) && 'phase' in value;
}

function isTeamReport(value: unknown): value is TeamReport {
  return isOfVersion1(value) && 'tasks' in value;
}

function isOfVersion1(value: unknown): value is { readonly version: 1 } {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 1;
}

function unknownReport(ref: Ref, what: string): ArtifactCorrupt {
  return new ArtifactCorrupt(
    `The artifact ${ref} is no report of ${what} that this planwave reads. Try: the planwave that wrote it, or a newer one.`,
    { ref, path: ref },
  );
}
