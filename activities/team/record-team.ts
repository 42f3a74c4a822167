import type { RecordTeamInput, RecordTeamResult } from '../../contracts/team-activities.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { findPlanned, loadTeam } from '../projection/record-texts.ts';
import type { LoadedTeam } from '../projection/record-texts.ts';
import { treePaths } from '../projection/paths.ts';
import { renderTeam } from '../projection/render-team.ts';
import { composePartial } from './compose-partial.ts';
import type { TeamDeps } from './deps.ts';

/**
 * Keeps how a team's work ended: in the store, and as a file for people. Repeating it gives the same.
 *
 * A team that ended without an answer of its leader hands on what its members brought. One that was blocked hands on
 * nothing, nor does one with guardrails for its output: what they hold back, or were never shown, would pass them so.
 *
 * @param assertCurrent throws when another worker may have the work: a suspended worker would overwrite the file of a
 * run that was started again.
 * @throws {ArtifactCorrupt} when a plan or a text that the report names is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function recordTeam(
  { store, projection }: TeamDeps,
  { run_id, delegation_id, report }: RecordTeamInput,
  assertCurrent: () => Promise<void>,
): Promise<RecordTeamResult> {
  const report_ref = await store.put(JSON.stringify(report));
  // Read back, so that a later export renders the same text.
  const team = await loadTeam(store, report_ref);
  const output_ref = await findOutput(store, team, delegation_id);
  const text = renderTeam(team, delegation_id);
  await projection.write(run_id, treePaths.team(delegation_id), text, assertCurrent);
  return { report_ref, output_ref };
}

async function findOutput(
  store: ArtifactStore,
  team: LoadedTeam,
  delegationId: string,
): Promise<Ref | null> {
  const { report, output, plan } = team;
  if (report.status === 'blocked') return null;
  if (output !== null) return report.output_ref;
  if (report.setup.guardrails.output.length > 0) return null;
  const composed = composePartial(team, findPlanned(delegationId, plan));
  return composed === null ? null : store.put(JSON.stringify(composed));
}
