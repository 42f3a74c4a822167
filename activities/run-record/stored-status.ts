import type { StatusView } from '../../contracts/views.ts';
import type { RecordDeps } from './deps.ts';
import { readRecord } from '../artifacts/record-log.ts';

/**
 * Reads the status of a run from the store, for runs that the server has deleted after the retention time.
 *
 * @returns null when the index does not have the run.
 */
export async function readStoredStatus(
  deps: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<StatusView | null> {
  const { ref } = await deps.index.read(runId);
  if (ref === null) return null;
  const record = await readRecord(deps.store, ref);
  const newest = record.waves.at(-1);
  const { wave = 0, guarded } = newest ?? {};
  return {
    run_id: record.run_id,
    goal: record.goal_title,
    phase: record.phase,
    wave,
    waves_allowed: wave,
    waiting_for: record.open_questions.map(({ question_id, text }) => `${question_id}: ${text}`),
    open_questions: record.open_questions.length,
    usage: record.usage,
    paused_reason: null,
    parked_reason: null,
    wave_workflow_id: null,
    ...(guarded !== undefined && { guarded }),
    result_path: record.result_ref === null ? null : `${deps.projection.rootOf(runId)}/result.md`,
  };
}
