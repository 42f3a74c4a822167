import { listReadable } from '../../core/workspace/run-changes.ts';
import { rewordTask } from '../../core/design/task-rules.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { AcceptanceCriterion, Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { type WavePlan } from '../../contracts/wave-plan.ts';
import { type VerificationFeedback, VerificationResults } from '../../contracts/verification.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { joinNames } from '../artifacts/packet-details.ts';
import { readOutput, readPlan, readShape, readWhole } from '../artifacts/read-artifact.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, textBlock } from '../text/blocks.ts';
import { markData } from './mark-data.ts';

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
      const output = await readOutput(store, one.output_ref);
      return {
        ...one,
        output,
        whole: await readWhole(store, output, listReadable(one, record, prompt.delegation_id)),
      };
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

function findDelegation(
  plan: WavePlan,
  { plan_ref, delegation_id }: { readonly plan_ref: Ref; readonly delegation_id: string },
): Delegation {
  const delegation = plan.delegations.find((one) => one.delegation_id === delegation_id);
  if (delegation !== undefined) return delegation;
  const message = `The plan ${plan_ref} has no delegation "${delegation_id}".`;
  throw new ArtifactCorrupt(message, { ref: plan_ref, path: plan_ref });
}

/** Words of the user on a task whose output failed its verification. */
type UsersWords = Pick<VerificationFeedback, 'instructions_ref' | 'guidance_refs'>;

/** Returns the delegation with the instructions that the user gave instead of its own: a plan's task keeps its other parts. */
export async function applyInstructions(
  store: ArtifactStore,
  delegation: Delegation,
  { instructions_ref }: Pick<UsersWords, 'instructions_ref'>,
): Promise<Delegation> {
  if (instructions_ref === null) return delegation;
  const words = await store.getText(instructions_ref);
  return { ...delegation, task_description: rewordTask(delegation.task_description, words) };
}

/** Renders the user's guidance, which binds; nothing without it. */
export async function renderGuidance(
  store: ArtifactStore,
  { guidance_refs }: Pick<UsersWords, 'guidance_refs'>,
): Promise<string[]> {
  const texts = await Promise.all(guidance_refs.map((ref: Ref) => store.getText(ref)));
  if (texts.length === 0) return [];
  return [
    'The user gave this guidance for the task. It is binding.',
    textBlock('user_guidance', texts.join('\n\n'), blockBytesMax.guidance),
  ];
}

/** Renders what an agent that begins anew is told: its failed output and the results of the verification. */
export async function renderFeedback(
  store: ArtifactStore,
  feedback: VerificationFeedback,
  callKey: string,
): Promise<string[]> {
  const { results_ref, output_ref, failed_results_ref } = feedback;
  const refs = [...(failed_results_ref === undefined ? [] : [failed_results_ref]), results_ref];
  const [results, output] = await Promise.all([
    Promise.all(
      refs.map((ref) => readShape(store, ref, VerificationResults, 'results of a verification')),
    ),
    output_ref === null ? null : readOutput(store, output_ref),
  ]);
  const failed =
    output === null ? [] : [cutAtLine(output.detailed_md.trimEnd(), blockBytesMax.failed_output)];
  const blocks = [
    ...failed.map((text) => textBlock('failed_output', text, Infinity)),
    ...results.map((one) => jsonBlock('verification_results', one)),
  ];
  return [
    `${describeTried(feedback)}. Files that were changed then are as they were left. Do what is missing, and give the whole output.`,
    markData(blocks.join('\n\n'), `${callKey} verification`),
    ...(await renderGuidance(store, feedback)),
  ];
}

function describeTried({ output_ref, gave_up }: VerificationFeedback): string {
  if (output_ref === null) return 'The task was tried before, and failed';
  const done = 'The task was done before, and its output failed the verification by another agent';
  return gave_up === true ? `${done}. Then it was tried once more, and failed` : done;
}
