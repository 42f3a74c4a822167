import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../run-record/read-record.ts';
import { readShape } from '../tools/read-artifact.ts';

export interface Upstream extends UpstreamOutput {
  readonly output: AgentOutput;
}

/** What a prompt about one delegation is rendered from. */
export interface Task {
  readonly record: RunRecord;
  /** All of the wave. */
  readonly planned: readonly Delegation[];
  readonly delegation: Delegation;
  readonly upstream: readonly Upstream[];
}

/**
 * Reads what a prompt names.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readTask(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'delegation' | 'member' | 'leader' }>,
): Promise<Task> {
  const record = await readRecord(store, prompt.record_ref);
  const plan = await readPlan(store, prompt.plan_ref);
  const delegation = findDelegation(plan, prompt);
  const upstream = await Promise.all(
    prompt.upstream.map(async (one) => ({
      ...one,
      output: await readShape(store, one.output_ref, AgentOutput, "an agent's output"),
    })),
  );
  return { record, planned: plan.delegations, delegation, upstream };
}

/** @throws ArtifactCorrupt when the plan has no such delegation, or as the store does. */
export async function readDelegation(
  store: ArtifactStore,
  where: { readonly plan_ref: Ref; readonly delegation_id: string },
): Promise<Delegation> {
  return findDelegation(await readPlan(store, where.plan_ref), where);
}

function readPlan(store: ArtifactStore, ref: Ref): Promise<WavePlan> {
  return readShape(store, ref, StoredPlan, 'a wave plan');
}

function findDelegation(
  plan: WavePlan,
  { plan_ref, delegation_id }: { readonly plan_ref: Ref; readonly delegation_id: string },
): Delegation {
  const delegation = plan.delegations.find((one) => one.delegation_id === delegation_id);
  if (delegation !== undefined) return delegation;
  const message = `The plan ${plan_ref} has no delegation "${delegation_id}".`;
  throw new ArtifactCorrupt(message, { ref: plan_ref, path: plan_ref });
}
