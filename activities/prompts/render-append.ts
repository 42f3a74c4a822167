import type { Prompt, TurnInput } from '../../contracts/model-turn.ts';
import type { ContentBlock } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { markData } from './mark-data.ts';
import type { PromptReader } from './prompt-reader.ts';
import { renderAnswers } from './render-answers.ts';
import { renderDecision } from './render-decision.ts';
import { renderDelegation } from './render-delegation.ts';
import { renderFaults } from './render-faults.ts';
import { renderPlan } from './render-plan.ts';
import { renderQuestionReview } from './render-question-review.ts';

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
  reader: PromptReader,
): Promise<RenderedAppend> {
  let packet: string | null = null;
  const content: ContentBlock[] = [];
  for (const input of append) {
    // In order, so that texts stand in the order in which they were appended.
    // oxlint-disable-next-line no-await-in-loop
    const blocks = await renderInput(store, input, reader);
    if (input.type === 'prompt') packet = joinTexts(blocks);
    content.push(...blocks);
  }
  return { content: putToolResultsFirst(content), packet };
}

function joinTexts(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}

/** The API wants the results of a message's tool calls before anything else that is said. */
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
): Promise<ContentBlock[]> {
  if (input.type === 'tool_result') {
    const { tool_use_id, is_error } = input;
    const text = await store.getText(input.result_ref);
    const content = markData(text, `${reader.callKey} ${tool_use_id}`);
    return [{ type: 'tool_result', tool_use_id, content, is_error }];
  }
  if (input.type === 'state_result' || input.type === 'member_turn') throw new Error('not built');
  if (input.type === 'prompt') return renderPrompt(store, input.prompt, reader);
  const text =
    input.type === 'faults'
      ? renderFaults(input.faults)
      : await renderAnswers(store, input.answers);
  return [{ type: 'text', text }];
}

async function renderPrompt(
  store: ArtifactStore,
  prompt: Prompt,
  reader: PromptReader,
): Promise<ContentBlock[]> {
  if (prompt.kind === 'delegation') {
    const { shared, own } = await renderDelegation(store, prompt, reader);
    return [
      { type: 'text', text: shared, cache_breakpoint: true },
      { type: 'text', text: own },
    ];
  }
  return [{ type: 'text', text: await renderForPlanner(store, prompt, reader) }];
}

function renderForPlanner(
  store: ArtifactStore,
  prompt: Exclude<Prompt, { kind: 'delegation' }>,
  reader: PromptReader,
): Promise<string> {
  switch (prompt.kind) {
    case 'plan':
      return renderPlan(store, prompt, reader);
    case 'decision':
      return renderDecision(store, prompt, reader);
    case 'question_review':
      return renderQuestionReview(store, prompt, reader);
    case 'member':
    case 'code':
      throw new Error('not built');
  }
}
