import type {
  EvidenceReport,
  GatherEvidenceInput,
  GatherEvidenceResult,
} from '../../contracts/verification.ts';
import { Context } from '@temporalio/activity';
import { readDelegation } from '../prompts/read-task.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine } from '../text/blocks.ts';
import { placeOf } from '../tools/place-of.ts';
import { checkEvidence } from './check-evidence.ts';
import type { EvidenceDeps } from './check-evidence.ts';

/**
 * Makes the checks of a delegation in its copy of the workspace, and reads the changes of its files. Files that a command
 * changes are put back.
 */
export async function gatherEvidence(
  deps: EvidenceDeps,
  input: GatherEvidenceInput,
): Promise<GatherEvidenceResult> {
  const { store, worktrees } = deps;
  const signal = Context.current().cancellationSignal;
  const place = await placeOf({ ...input, store, signal });
  const { verification } = await readDelegation(store, input);
  const checks: EvidenceReport['checks'] = [];
  const kept = verification?.checks.length ? await worktrees.keep(place) : null;
  for (const { criterion_id, check } of verification?.checks ?? []) {
    // Commands work in the same folder.
    // oxlint-disable-next-line no-await-in-loop
    const found = await checkEvidence(deps, { check, place, signal });
    checks.push({ criterion_id, ...found });
    // oxlint-disable-next-line no-await-in-loop
    if (check.kind === 'command' && kept !== null) await worktrees.restore(place, kept);
  }
  const patch = (await worktrees.diff(place)) ?? '';
  const report: EvidenceReport = { checks, diff: cutAtLine(patch, blockBytesMax.evidence_diff) };
  return {
    evidence_ref: await store.put(JSON.stringify(report)),
    failed: checks.filter(({ result }) => result === 'failed').length,
  };
}
