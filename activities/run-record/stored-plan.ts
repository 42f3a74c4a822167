import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { readCoordinationPlan } from '../artifacts/coordination-plan.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { RecordDeps } from './deps.ts';
import { UnknownRun } from './export-run.ts';

/**
 * Reads the newest plan of a run from the store.
 *
 * @returns null when the run has no plan, because it is not designed or its design is not that far.
 * @throws {UnknownRun} when the index does not have the run.
 */
export async function readStoredPlan(
  { store, index }: Pick<RecordDeps, 'store' | 'index'>,
  runId: string,
): Promise<CoordinationPlan | null> {
  const { ref } = await index.read(runId);
  if (ref === null) throw new UnknownRun(runId, await index.list());
  const { design } = await readRecord(store, ref);
  const newest = design?.plan_refs.at(-1);
  return newest === undefined ? null : readCoordinationPlan(store, newest);
}
