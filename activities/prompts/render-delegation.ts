import type { Prompt } from '../../contracts/model-turn.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { jsonBlock } from '../text/blocks.ts';
import { markData } from './mark-data.ts';
import { renderRole, renderShared, renderTask } from './packet-parts.ts';
import type { PromptReader } from './prompt-reader.ts';
import { renderUpstream } from './render-upstream.ts';
import { readTask } from './read-task.ts';

const request =
  '<request kind="delegation">\nDo the task of your delegation and give your output. Cover each of its acceptance criteria, with evidence for what you met.\n</request>';

/** The first message of one that does work, in two parts. */
export interface Packet {
  /** Byte for byte equal for all of a wave that are asked for the same, whoever they are. */
  readonly shared: string;
  /** Role, grant, upstream results and task. */
  readonly own: string;
}

/**
 * The first message of a delegation: the ContextPacket of seed 004 §4.
 *
 * What all delegations of a wave share comes first, with what changes least at its beginning: the provider's cache reads
 * it for all but the first of them. So `planner_compact_input` and `detail_index` hold what the planner has approved, and
 * their second halves, what a delegation gets from those it depends on, stand in blocks of their own.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderDelegation(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'delegation' }>,
  { agent, callKey }: PromptReader,
): Promise<Packet> {
  const task = await readTask(store, prompt);
  const own = [
    renderRole(agent),
    jsonBlock('allowed_tools', agent.allowed_tools),
    markData(renderUpstream(task, agent), callKey),
    renderTask(task.delegation),
  ];
  // Of the wave and not of the call: all delegations get the same bytes.
  const waveKey = `${task.record.run_id} ${prompt.plan_ref}`;
  const shared = await renderShared(store, task.record, { request, waveKey });
  return { shared, own: own.join('\n\n') };
}
