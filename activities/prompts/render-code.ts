import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import { findPlannedText } from '../../core/triad/list-sections.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, textBlock } from '../text/blocks.ts';
import type { BlockName } from '../text/blocks.ts';
import { markData } from './mark-data.ts';
import { renderRole, renderTask } from './packet-parts.ts';
import type { PromptReader } from './prompt-reader.ts';
import { readDelegation } from './read-task.ts';

/**
 * The one message of a conversation that gives one section as code. It holds the section and what was agreed on it; of the
 * conversation that asks for the code, the order and nothing else.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderCode(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'code' }>,
  { agent, callKey }: PromptReader,
): Promise<string> {
  const { section_id, language } = prompt;
  const delegation = await readDelegation(store, prompt);
  const text = findPlannedText(delegation, section_id);
  const written = await Promise.all([
    readBlock(store, 'proposal', prompt.proposal_ref),
    readBlock(store, 'current_text', prompt.text_ref),
    readBlock(store, 'order', prompt.instructions_ref),
  ]);
  return [
    '<request kind="code">\nWrite your section as code, in its language. Answer with the code and nothing else.\n</request>',
    renderRole(agent),
    renderTask(delegation),
    markData(
      [jsonBlock('code_section', { section_id, language, text }), ...written.flat()].join('\n\n'),
      callKey,
    ),
  ].join('\n\n');
}

async function readBlock(
  store: ArtifactStore,
  name: BlockName,
  ref: Ref | null,
): Promise<string[]> {
  return ref === null ? [] : [textBlock(name, await store.getText(ref), blockBytesMax.code_order)];
}
