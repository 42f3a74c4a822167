import { z } from 'zod';
import { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { RecordDeps } from './deps.ts';
import { UnknownRun } from './export-run.ts';

/** Part of a designed run's record that names its plans, oldest first. */
const DesignedRecord = z.object({ design: z.object({ plan_refs: z.array(z.string()) }) });

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
  const designed = DesignedRecord.safeParse(await readRecord(store, ref));
  const newest = designed.data?.design.plan_refs.at(-1);
  return newest === undefined
    ? null
    : CoordinationPlan.parse(JSON.parse(await store.getText(newest)));
}
