import type { RecalledStage, RecallStagesInput } from '../../contracts/design-activities.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { designStages } from '../stages/design-stages.ts';

/** Reads the results of stages that ended in an earlier design of the run. */
export async function recallStages(
  store: ArtifactStore,
  { materials }: RecallStagesInput,
): Promise<{ readonly stages: readonly RecalledStage[] }> {
  const stages = materials.map(async ({ stage, subject, ref }): Promise<RecalledStage> => ({
    subject,
    reply: await designStages[stage].recall(store, ref),
  }));
  return { stages: await Promise.all(stages) };
}
