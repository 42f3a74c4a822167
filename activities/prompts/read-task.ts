import { AgentOutput } from '../../contracts/agent-output.ts';
import type { AcceptanceCriterion, Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { joinNames } from '../artifacts/packet-details.ts';
import { readShape, readWhole } from '../artifacts/read-artifact.ts';
import { StoredPlan, type WavePlan } from '../../contracts/wave-plan.ts';

/** Result that a delegation builds on: of one that it depends on in its wave, or of an earlier wave. */
export interface Upstream extends UpstreamOutput {
  readonly title: string;
  /** Names of the result in addition to the delegation_id. */
  readonly names: readonly string[];
  /** True if the plan names it: as a required input or as a dependency. Others come because those depend on them. */
  readonly isDirect: boolean;
  /** Criteria that it was to meet, as far as they are known. */
  readonly criteria: readonly AcceptanceCriterion[];
  readonly output: AgentOutput;
  /** Whole result, with the files that were written for it. */
  readonly whole: string;
}

/** The content of a prompt about one delegation. */
export interface Task {
  readonly record: RunRecord;
  readonly delegation: Delegation;
  /** Upstream results, those of earlier waves first. */
  readonly upstream: readonly Upstream[];
}

/**
 * Reads what a prompt names.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readTask(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'delegation' | 'member' | 'leader' | 'verification' }>,
): Promise<Task> {
  const record = await readRecord(store, prompt.record_ref);
  const plan = await readPlan(store, prompt.plan_ref);
  const delegation = findDelegation(plan, prompt);
  const fresh = prompt.upstream.map((one) => nameUpstream(one, plan, delegation));
  const upstream = await Promise.all(
    [...listEarlier(record, delegation, fresh), ...fresh].map(async (one) => {
      const output = await readShape(store, one.output_ref, AgentOutput, "an agent's output");
      return { ...one, output, whole: await readWhole(store, output, one.files ?? []) };
    }),
  );
  return { record, delegation, upstream };
}

type NamedUpstream = Omit<Upstream, 'output' | 'whole'>;

function nameUpstream(
  upstream: UpstreamOutput,
  { delegations }: WavePlan,
  { depends_on, required_inputs }: Delegation,
): NamedUpstream {
  const { delegation_id } = upstream;
  const planned = delegations.find((one) => one.delegation_id === delegation_id);
  const names = planned?.produces ?? [];
  const isRequired = [delegation_id, ...names].some((name) => required_inputs.includes(name));
  return {
    ...upstream,
    title: planned?.title ?? delegation_id,
    names,
    criteria: planned?.acceptance_criteria ?? [],
    isDirect: isRequired || depends_on.includes(delegation_id),
  };
}

/**
 * Lists the results of earlier waves that a delegation requires. A name that its own wave has produced anew is not
 * among them.
 */
function listEarlier(
  record: RunRecord,
  { required_inputs }: Delegation,
  fresh: readonly NamedUpstream[],
): NamedUpstream[] {
  const taken = new Set(fresh.flatMap(({ delegation_id, names }) => [delegation_id, ...names]));
  const wanted = new Set(required_inputs.filter((name) => !taken.has(name)));
  return joinNames(record.details)
    .filter(({ entry, names }) => [entry.detail_id, ...names].some((name) => wanted.has(name)))
    .map(({ entry, names }) => ({
      delegation_id: entry.detail_id,
      output_ref: entry.output_ref,
      ...(entry.files !== undefined && { files: entry.files }),
      title: entry.title,
      names,
      criteria: record.criteria,
      isDirect: true,
    }));
}

/** @throws ArtifactCorrupt when the plan has no such delegation, or like the store. */
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
