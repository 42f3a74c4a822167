import type { Ref } from '../../contracts/ref.ts';
import type { ExecutorEnd } from '../../contracts/team-run.ts';
import { readEnd } from '../../core/executor.ts';
import { findDisputes } from '../../core/pool/find-conflicts.ts';
import type { Dispute, TriadDissent } from '../../core/pool/find-conflicts.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readPhaseReport, readTeamReport } from './read-report.ts';

/** An ended delegation, or an ended task of a team. */
interface Ended {
  readonly delegation_id: string;
  readonly executor_end: ExecutorEnd | null;
}

/**
 * Reads all points that the triads of a wave could not settle: an outcome names only the first ones.
 *
 * @throws {ArtifactCorrupt} when a report is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readDisputes(
  store: ArtifactStore,
  wave: number,
  outcomes: readonly Ended[],
): Promise<readonly Dispute[]> {
  const dissent = await Promise.all(outcomes.map((one) => readDissent(store, one)));
  return findDisputes(wave, dissent.flat());
}

async function readDissent(
  store: ArtifactStore,
  { delegation_id, executor_end: end }: Ended,
): Promise<readonly TriadDissent[]> {
  if (end === null) return [];
  if (end.kind === 'team') return readTeamDissent(store, end.report_ref);
  if (end.dissent_ref === null) return [];
  const { spec } = await readPhaseReport(store, end.dissent_ref);
  return [{ delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
}

/** Reads the disputes of triads among the members of a team and of its nested teams. */
export async function readTeamDissent(
  store: ArtifactStore,
  ref: Ref,
): Promise<readonly TriadDissent[]> {
  const { tasks } = await readTeamReport(store, ref);
  const dissent = await Promise.all(
    tasks.map(({ delegation_id, executor }) =>
      readDissent(store, { delegation_id, executor_end: readEnd(executor) }),
    ),
  );
  return dissent.flat();
}
