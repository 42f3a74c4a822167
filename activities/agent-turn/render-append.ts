import type { TurnInput } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { ContentBlock } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { markData } from '../prompts/mark-data.ts';
import { readDelegation } from '../prompts/read-task.ts';
import { renderAnswers, renderNews } from '../prompts/render-answers.ts';
import { renderTaskResult } from '../prompts/render-task-result.ts';
import { renderTurn } from '../prompts/render-turn.ts';
import type { PromptReader } from '../stages/stage.ts';
import { stageOf } from '../stages/stages.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock } from '../text/blocks.ts';

export interface RenderedAppend {
  /** Content of the one user message; empty when nothing was appended. */
  readonly content: readonly ContentBlock[];
  /** First message as text, when the turn begins with a prompt. */
  readonly packet: string | null;
}

/**
 * Renders what a turn appends. The same inputs always give the same bytes: everything is read from artifacts.
 *
 * @param cure instructions after the faults of the last output.
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderAppend(
  store: ArtifactStore,
  append: readonly TurnInput[],
  reader: PromptReader,
  cure: string,
): Promise<RenderedAppend> {
  let packet: string | null = null;
  const content: ContentBlock[] = [];
  for (const input of append) {
    // Sequential, so that texts stand in the order in which they were appended.
    // oxlint-disable-next-line no-await-in-loop
    const blocks = await renderInput(store, input, reader, cure);
    if (input.type === 'prompt') packet = joinTexts(blocks);
    content.push(...blocks);
  }
  return { content: putToolResultsFirst(content), packet };
}

/** Separates the blocks of a packet. */
export const packetSeparator = '\n\n';

function joinTexts(blocks: readonly ContentBlock[]): string {
  return blocks
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join(packetSeparator);
}

/** Moves tool results first: the API wants the results of a message's tool calls before anything else. */
export function putToolResultsFirst(content: readonly ContentBlock[]): ContentBlock[] {
  return [
    ...content.filter((block) => block.type === 'tool_result'),
    ...content.filter((block) => block.type !== 'tool_result'),
  ];
}

async function renderInput(
  store: ArtifactStore,
  input: TurnInput,
  reader: PromptReader,
  cure: string,
): Promise<ContentBlock[]> {
  switch (input.type) {
    case 'prompt':
      return stageOf(input.prompt).render(store, input.prompt, reader);
    case 'tool_result': {
      const { tool_use_id, is_error } = input;
      const text = await store.getText(input.result_ref);
      const content = markData(text, `${reader.callKey} ${tool_use_id}`);
      return [{ type: 'tool_result', tool_use_id, content, is_error }];
    }
    case 'state_result':
      return [await renderStateResult(store, input, reader)];
    case 'faults':
      return [{ type: 'text', text: renderFaults(input.faults, cure, reader.callKey) }];
    case 'answers':
      return [{ type: 'text', text: await renderAnswers(store, input.answers, reader.callKey) }];
    case 'news':
      return [{ type: 'text', text: await renderNews(store, input.news, reader.callKey) }];
    case 'task_result':
      return [await renderTaskResult(store, input, reader.callKey)];
    case 'member_turn': {
      const delegation = await readDelegation(store, input);
      const text = await renderTurn(store, delegation, input.brief, reader.callKey);
      return [{ type: 'text', text }];
    }
  }
}

/** Renders what the engine decided of a call, and the text that stands now, which others may have written. */
async function renderStateResult(
  store: ArtifactStore,
  { tool_use_id, text, current_ref, is_error }: Extract<TurnInput, { type: 'state_result' }>,
  { callKey }: PromptReader,
): Promise<ContentBlock> {
  const current = current_ref === null ? null : await store.getText(current_ref);
  const parts = [
    ...(text === '' ? [] : [text]),
    ...(current === null
      ? []
      : [markData(cutAtLine(current, blockBytesMax.state_result), `${callKey} ${tool_use_id}`)]),
  ];
  return { type: 'tool_result', tool_use_id, content: parts.join('\n\n'), is_error };
}

/** Returns an output to its author with everything that is wrong with it. A fault may quote what others wrote. */
function renderFaults(faults: readonly OutputFault[], cure: string, callKey: string): string {
  const shown = faults.map(({ path, reason, hint }) => ({ path, reason, hint }));
  return `${markData(jsonBlock('faults', shown), callKey)}\n${cure}`;
}
