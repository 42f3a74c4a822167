import { AgentOutput } from '../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, listBlock, takeEntries } from '../text/blocks.ts';
import type { DecidedWave } from '../artifacts/read-reports.ts';

/** Maximum characters of the reason why an attempt ended. */
const reasonCharsMax = 300;

/** Renders the planner's last decision for the next plan: why the wave was not enough, and what was to be done next. */
export function renderLastDecision({ wave, decision }: DecidedWave): string {
  const { io_status, not_ok_reasons, next_actions } = decision.planner_decision;
  const bytesMax = blockBytesMax.last_decision / 2;
  return jsonBlock('last_decision', {
    wave,
    io_status,
    not_ok_reasons: takeEntries(not_ok_reasons, bytesMax, 'first'),
    next_actions: takeEntries(next_actions, bytesMax, 'first'),
  });
}

/**
 * Lists who tried what with which outcome, the newest first, and the information that each one missed and that was not
 * supplied since.
 *
 * @param known names of inputs that the next wave may require.
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderTried(
  store: ArtifactStore,
  { waves }: RunRecord,
  known: readonly string[],
): Promise<string> {
  const outcomes = waves
    .flatMap(({ wave, outcomes: ended }) => ended.map((outcome) => ({ wave, outcome })))
    .toReversed()
    .slice(0, engineLimits.triedShownMax);
  const entries = await Promise.all(
    outcomes.map(async ({ wave, outcome }) => ({
      delegation_id: outcome.delegation_id,
      wave,
      agent_id: outcome.agent_id,
      title: outcome.title,
      status: outcome.status,
      ...(outcome.reason !== '' && { reason: cutText(outcome.reason, reasonCharsMax) }),
      criteria_met: outcome.criteria_met,
      criteria_unmet: outcome.criteria_unmet,
      ...(await describeMissing(store, outcome, known)),
    })),
  );
  return listBlock('tried', entries, blockBytesMax.tried);
}

async function describeMissing(
  store: ArtifactStore,
  { output_ref }: DelegationOutcome,
  known: readonly string[],
): Promise<Partial<Pick<AgentOutput, 'missing_info_requests'>> & { readonly damaged?: true }> {
  if (output_ref === null) return {};
  const output = await readUndamaged(store, output_ref);
  // The planner can have it redone; nothing else of the plan rests on the text.
  if (output === null) return { damaged: true };
  const missing = output.missing_info_requests.filter(({ input }) => !known.includes(input));
  return missing.length === 0 ? {} : { missing_info_requests: missing };
}

/** @returns null for an artifact whose bytes were changed. */
async function readUndamaged(store: ArtifactStore, ref: Ref): Promise<AgentOutput | null> {
  try {
    return await readShape(store, ref, AgentOutput, "an agent's output");
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}
