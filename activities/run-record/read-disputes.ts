import type { TriadEnd } from '../../contracts/triad-run.ts';
import { findDisputes } from '../../core/pool/find-disputes.ts';
import type { Dispute, TriadDissent } from '../../core/pool/find-disputes.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readPhaseReport } from './read-phase-report.ts';

interface TriadsOutcome {
  readonly delegation_id: string;
  readonly triad_end?: TriadEnd;
}

/**
 * What the triads of a wave could not settle, all of it: an outcome that travels names only the first disputes.
 *
 * @throws {ArtifactCorrupt} when a report is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readDisputes(
  store: ArtifactStore,
  wave: number,
  outcomes: readonly TriadsOutcome[],
): Promise<readonly Dispute[]> {
  const triads = await Promise.all(
    outcomes.map(async ({ delegation_id, triad_end }): Promise<TriadDissent[]> => {
      const ref = triad_end?.dissent_ref ?? null;
      if (ref === null) return [];
      const { spec } = await readPhaseReport(store, ref);
      return [{ delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
    }),
  );
  return findDisputes(wave, triads.flat());
}
