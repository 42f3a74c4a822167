import { AgentOutput } from '../../contracts/agent-output.ts';
import type { OrderDecisionInput, ReadDecisionInput } from '../../contracts/design-activities.ts';
import { orderDecision, readDecision } from '../../core/design/architect-task.ts';
import { readCoordinationPlan } from '../artifacts/coordination-plan.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import { storePlan } from '../run-record/compose-plan.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** Adds the task of a decision to the plan of a wave. Repeating it gives the same. */
export async function addDecision(
  store: ArtifactStore,
  { architect, wave_plan_ref, asker: id, ...rest }: OrderDecisionInput,
): Promise<WavePlanOutline> {
  const [plan, wave] = await Promise.all([
    readCoordinationPlan(store, architect.plan_ref),
    readShape(store, wave_plan_ref, StoredPlan, 'a wave plan'),
  ]);
  const asker = wave.delegations.find(({ delegation_id }) => delegation_id === id);
  if (asker === undefined) {
    const message = `The plan ${wave_plan_ref} has no delegation ${id}.`;
    throw new ArtifactCorrupt(message, { ref: wave_plan_ref, path: wave_plan_ref });
  }
  const decision = orderDecision(plan, { ...rest, asker }, architect);
  return storePlan(store, { ...wave, delegations: [...wave.delegations, decision] });
}

export async function readAnswers(
  store: ArtifactStore,
  { output_ref, questions }: ReadDecisionInput,
): Promise<{ readonly answers: readonly (string | null)[] }> {
  const output = await readShape(store, output_ref, AgentOutput, "an agent's output");
  return { answers: readDecision(output, questions) };
}
