import { ApplicationFailure, patched, startChild } from '@temporalio/workflow';
import type { ArchivalInput, ArchivalResult } from '../../contracts/archival.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { archivalWorkflowId } from '../../core/ids.ts';
import { archiveSessions } from '../shared/activities.ts';
import { childOptions } from '../shared/child-options.ts';
import { nowSeconds } from '../shared/clock.ts';
import { readFailure } from '../shared/read-failure.ts';
import type { RootHost } from '../shared/root-host.ts';

/**
 * Archives the sessions of runs that ended without a word, such as terminated ones (seed 003, "Archival Agent"). A run that
 * ends by itself archives its own sessions with its last record.
 *
 * @throws InvalidInput when the input has another shape.
 */
export async function archival(input: ArchivalInput): Promise<ArchivalResult> {
  const result = await archiveSessions.executeWithOptions({ summary: 'archive old sessions' }, [
    { input, now: nowSeconds() },
  ]);
  if (result.type === 'refused')
    throw ApplicationFailure.nonRetryable(result.reason, 'InvalidInput');
  const { archived, failures } = result;
  return { archived, failures };
}

/**
 * Archives before a run whose agents keep notes begins. A failure is told in the run's report and stops nothing.
 */
export async function archiveFirst({ state, runId, record }: RootHost): Promise<void> {
  const { notes = false, design } = state.opened ?? {};
  const hasPlan = design !== undefined && (design.plan !== null || design.mode !== 'direct');
  const keepsNotes = notes || hasPlan;
  // Histories from before 2026-11-24 have no archival.
  if (!keepsNotes || !patched('archival')) return;
  const result = await archiveBefore(runId).catch((error: unknown): ArchivalResult => ({
    archived: [],
    failures: [`The archival failed: ${readFailure(error).message}`],
  }));
  if (result.archived.length + result.failures.length > 0) record.add({ type: 'archival', result });
}

async function archiveBefore(runId: string): Promise<ArchivalResult> {
  const child = await startChild<(input: ArchivalInput) => Promise<ArchivalResult>>(
    workflowTypes.archival,
    {
      workflowId: archivalWorkflowId(runId),
      args: [{ run_id: runId }],
      ...childOptions(runId, 'archive the sessions of earlier runs'),
    },
  );
  return child.result();
}
