import type {
  EvidenceReport,
  GatherEvidenceInput,
  GatherEvidenceResult,
} from '../../contracts/verification.ts';
import { Context } from '@temporalio/activity';
import type { WorkspacePlace } from '../ports/workspaces.ts';
import { readDelegation } from '../prompts/read-task.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine } from '../text/blocks.ts';
import { placeOf } from '../tools/place-of.ts';
import { checkEvidence } from './check-evidence.ts';
import type { EvidenceDeps } from './check-evidence.ts';

/** Keeps the files of a delegation, so that each attempt to check them begins with the same. */
export async function keepWork(
  { store, worktrees }: Pick<EvidenceDeps, 'store' | 'worktrees'>,
  input: Omit<GatherEvidenceInput, 'kept'>,
): Promise<Pick<GatherEvidenceInput, 'kept'>> {
  const signal = Context.current().cancellationSignal;
  return { kept: await worktrees.keep(await placeOf({ ...input, store, signal })) };
}

/**
 * Makes the checks of a delegation in its copy of the workspace, and reads the changes of its files. Files that a command
 * changes are put back, those of an interrupted attempt first.
 */
export async function gatherEvidence(
  deps: EvidenceDeps,
  input: GatherEvidenceInput,
): Promise<GatherEvidenceResult> {
  const { store, worktrees } = deps;
  const { kept } = input;
  const signal = Context.current().cancellationSignal;
  const place = await placeOf({ ...input, store, signal });
  const { verification } = await readDelegation(store, input);
  const checks: EvidenceReport['checks'] = [];
  if (kept !== null) await putBack(deps, place, kept);
  for (const { criterion_id, check } of verification?.checks ?? []) {
    // Commands work in the same folder.
    /* oxlint-disable no-await-in-loop */
    const found = await checkEvidence(deps, { check, place, signal });
    checks.push({ criterion_id, ...found });
    if (check.kind === 'command' && kept !== null) await worktrees.restore(place, kept);
    /* oxlint-enable no-await-in-loop */
  }
  const patch = (await worktrees.diff(place)) ?? '';
  const report: EvidenceReport = { checks, diff: cutAtLine(patch, blockBytesMax.evidence_diff) };
  return {
    evidence_ref: await store.put(JSON.stringify(report)),
    failed: checks.filter(({ result }) => result === 'failed').length,
  };
}

/** Undoes what an interrupted attempt has changed, after its last command is dead. */
async function putBack(
  { commands, workspaces, worktrees }: EvidenceDeps,
  place: WorkspacePlace,
  kept: string,
): Promise<void> {
  await commands?.endLeftovers(await workspaces.folderOf(place));
  await worktrees.restore(place, kept);
}
