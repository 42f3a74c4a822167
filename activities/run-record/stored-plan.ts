import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { readCoordinationPlan } from '../artifacts/coordination-plan.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { RecordDeps } from './deps.ts';
import { UnknownRun } from './export-run.ts';

/**
 * Reads the plan of a run from the store.
 *
 * @param version From 1; if undefined, the newest.
 * @returns null when the run has no such plan, because it is not designed or its design is not that far.
 * @throws {UnknownRun} when the index does not have the run.
 */
export async function readStoredPlan(
  { store, index }: Pick<RecordDeps, 'store' | 'index'>,
  runId: string,
  version?: number,
): Promise<CoordinationPlan | null> {
  const { ref } = await index.read(runId);
  if (ref === null) throw new UnknownRun(runId, await index.list());
  const { design } = await readRecord(store, ref);
  const refs = design?.plan_refs ?? [];
  const planRef = version === undefined ? refs.at(-1) : refs[version - 1];
  return planRef === undefined ? null : readCoordinationPlan(store, planRef);
}
