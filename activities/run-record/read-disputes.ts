import type { Ref } from '../../contracts/ref.ts';
import type { TeamEnd } from '../../contracts/team-run.ts';
import type { TriadEnd } from '../../contracts/triad-run.ts';
import { findDisputes } from '../../core/pool/find-disputes.ts';
import type { Dispute, TriadDissent } from '../../core/pool/find-disputes.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { readEnds } from '../../core/team/bound-team.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readPhaseReport, readTeamReport } from './read-report.ts';

/** An ended delegation, or an ended task of a team. */
interface Ended {
  readonly delegation_id: string;
  readonly triad_end?: Pick<TriadEnd, 'dissent_ref'>;
  readonly team_end?: Pick<TeamEnd, 'report_ref'>;
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
  { delegation_id, triad_end, team_end }: Ended,
): Promise<readonly TriadDissent[]> {
  const ofTeam = team_end === undefined ? [] : await readTeamDissent(store, team_end.report_ref);
  const ref = triad_end?.dissent_ref ?? null;
  if (ref === null) return ofTeam;
  const { spec } = await readPhaseReport(store, ref);
  return [...ofTeam, { delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
}

/** Reads the disputes of triads among the members of a team and of its nested teams. */
export async function readTeamDissent(
  store: ArtifactStore,
  ref: Ref,
): Promise<readonly TriadDissent[]> {
  const { tasks } = await readTeamReport(store, ref);
  const dissent = await Promise.all(
    tasks.map((task) =>
      readDissent(store, { delegation_id: task.delegation_id, ...readEnds(task) }),
    ),
  );
  return dissent.flat();
}
