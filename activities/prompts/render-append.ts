import type { Prompt, TurnInput } from '../../contracts/model-turn.ts';
import type { ContentBlock } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { renderAnswers } from './render-answers.ts';
import { renderDecision } from './render-decision.ts';
import { renderDelegation } from './render-delegation.ts';
import { renderFaults } from './render-faults.ts';
import { renderPlan } from './render-plan.ts';

export interface RenderedAppend {
  /** Content of the one user message; empty when nothing was appended. */
  readonly content: readonly ContentBlock[];
  /** The first message as text, when the turn begins with a prompt. */
  readonly packet: string | null;
}

/**
 * Renders what a turn appends. The same inputs always give the same bytes: everything is read from artifacts.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderAppend(
  store: ArtifactStore,
  append: readonly TurnInput[],
): Promise<RenderedAppend> {
  let packet: string | null = null;
  const blocks: ContentBlock[] = [];
  for (const input of append) {
    // In order, so that texts stand in the order in which they were appended.
    // oxlint-disable-next-line no-await-in-loop
    const block = await renderInput(store, input);
    if (input.type === 'prompt' && block.type === 'text') packet = block.text;
    blocks.push(block);
  }
  return { content: putToolResultsFirst(blocks), packet };
}

/** The API wants the results of a message's tool calls before anything else that is said. */
export function putToolResultsFirst(content: readonly ContentBlock[]): ContentBlock[] {
  return [
    ...content.filter((block) => block.type === 'tool_result'),
    ...content.filter((block) => block.type !== 'tool_result'),
  ];
}

async function renderInput(store: ArtifactStore, input: TurnInput): Promise<ContentBlock> {
  if (input.type === 'tool_result') {
    const content = await store.getText(input.result_ref);
    const { tool_use_id, is_error } = input;
    return { type: 'tool_result', tool_use_id, content, is_error };
  }
  return { type: 'text', text: await renderText(store, input) };
}

async function renderText(
  store: ArtifactStore,
  input: Exclude<TurnInput, { type: 'tool_result' }>,
): Promise<string> {
  if (input.type === 'prompt') return renderPrompt(store, input.prompt);
  return input.type === 'faults' ? renderFaults(input.faults) : renderAnswers(store, input.answers);
}

function renderPrompt(store: ArtifactStore, prompt: Prompt): Promise<string> {
  if (prompt.kind === 'plan') return renderPlan(store, prompt);
  return prompt.kind === 'delegation'
    ? renderDelegation(store, prompt)
    : renderDecision(store, prompt);
}
