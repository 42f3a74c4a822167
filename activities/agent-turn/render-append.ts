import type { DeliveredAnswer, NewsItem } from '../../contracts/messages.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { isPersons } from '../../core/effects/decide-approval.ts';
import { informsWork } from '../../core/questions/answer-kinds.ts';
import { isFromUser } from '../../core/run/news.ts';
import { escapeInvisible, shareBytes } from '../../core/text/cut-text.ts';
import type { TurnInput } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { ContentBlock } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../text/bytes.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, listBlock } from '../text/blocks.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { markData } from '../prompts/mark-data.ts';
import { readDelegation } from '../prompts/read-task.ts';
import { renderTaskResult } from '../prompts/render-task-result.ts';
import { renderTurn } from '../prompts/render-turn.ts';
import type { PromptReader } from '../stages/stage.ts';
import { stageOf } from '../stages/stages.ts';

/**
 * Renders what comes back to the one who asked: all answers at once, in the order of the questions. They are marked,
 * because another agent may have asked the same, and a default is an agent's. An answer arrives exactly: what can't be
 * seen in it is escaped.
 */
async function renderAnswers(
  store: ArtifactStore,
  answers: readonly DeliveredAnswer[],
  callKey: string,
): Promise<string> {
  const texts = await Promise.all(answers.map((one) => readAnswer(store, one)));
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.answers);
  const entries = answers.map(({ question_id, text, answered_by }, at) => ({
    question_id,
    text,
    answer: cutAtLine(texts[at] ?? '', shares[at] ?? 0),
    answered_by,
  }));
  const refused = answers.filter((one) => one.loop);
  const repeated = refused.filter((one) => one.note_id === undefined);
  const goOn = `These are the answers to your questions. Those of ${nameBinding(answers)} are binding. Go on with your task and give the whole output.`;
  const assumed = answers
    .filter((one) => assumingAnswerers.includes(one.answered_by))
    .map((one) => one.question_id);
  return [
    markData(escapeInvisible(jsonBlock('answers', entries)), callKey),
    goOn,
    ...explainAssumed(assumed),
    ...explainLoop(repeated.map((one) => one.question_id)),
    ...explainUndecided(refused.flatMap((one) => one.note_id ?? [])),
  ].join('\n');
}

/**
 * Renders what was decided since the record was written that the first message is rendered from. With an answer it is
 * marked: agents wrote the question, and a default.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
async function renderNews(
  store: ArtifactStore,
  news: readonly NewsItem[],
  callKey: string,
): Promise<string> {
  const entries = await Promise.all(news.map((item) => describeNews(store, item)));
  const block = escapeInvisible(listBlock('news', entries, blockBytesMax.news, 'last'));
  return [
    news.some(({ type }) => type === 'answer') ? markData(block, callKey) : block,
    `This was decided while the work went on. Keep to its instructions and to the answers of ${nameBinding(news)} from here on. If you have given your output already, give the whole of it again, with this in mind.`,
  ].join('\n');
}

/** Names those whose answers bind. */
function nameBinding(items: readonly (DeliveredAnswer | NewsItem)[]): string {
  const isDecided = items.some(
    (one) => 'answered_by' in one && one.answered_by === answererNames.architect,
  );
  return isDecided ? 'a person, the planner or the solution architect' : 'a person or the planner';
}

async function describeNews(store: ArtifactStore, item: NewsItem): Promise<object> {
  if (item.type === 'instruction') {
    const { instruction, criteria_waived } = item;
    return { instruction, ...(criteria_waived.length > 0 && { criteria_waived }) };
  }
  const { question_id, text, answer, answer_ref, answered_by, delegation_id, changed } = item;
  const { contradicts } = item;
  const whole = answer_ref === null ? answer : await store.getText(answer_ref);
  return {
    question_id,
    text,
    answer: cutAtLine(whole, blockBytesMax.answered_question),
    answered_by,
    delegation_id,
    ...(changed && { changed }),
    ...(contradicts !== undefined && { contradicts }),
  };
}

async function readAnswer(store: ArtifactStore, one: DeliveredAnswer): Promise<string> {
  if (one.answer !== null) return one.answer;
  return one.answer_ref === null ? '' : store.getText(one.answer_ref);
}

function explainAssumed(assumed: readonly string[]): string[] {
  if (assumed.length === 0) return [];
  return [
    `${assumed.join(', ')}: nobody has decided this. Work with what stands there as an assumption, and name it in assumptions_made.`,
  ];
}

function explainLoop(repeated: readonly string[]): string[] {
  if (repeated.length === 0) return [];
  const ids = repeated.join(', ');
  return [
    `${ids}: this was asked before and is not put to the user again. Decide with what you have and name it in assumptions_made, or give status "failed" with the reason. Do not ask it once more.`,
  ];
}

function explainUndecided(note_ids: readonly string[]): string[] {
  if (note_ids.length === 0) return [];
  return [
    `${note_ids.join(', ')}: the question of this note was refused, so it stays escalated, whatever the answer says. Finish what does not depend on it, then give status "failed" with what depends on it in criteria_unmet. Do not ask it once more.`,
  ];
}

export interface RenderedAppend {
  /** Content of the one user message; empty when nothing was appended. */
  readonly content: readonly ContentBlock[];
  /** First message as text, when the turn begins with a prompt. */
  readonly packet: string | null;
  /** Web addresses in what people answered and instructed. */
  readonly addresses: readonly string[];
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
  let shown: RunRecord | null = null;
  for (const given of append) {
    const input = dropShown(given, shown);
    if (input === null) continue;
    // Sequential, so that texts stand in the order in which they were appended.
    // oxlint-disable-next-line no-await-in-loop
    const blocks = await renderInput(store, input, reader, cure);
    content.push(...blocks);
    if (input.type !== 'prompt') continue;
    packet = joinTexts(blocks);
    // oxlint-disable-next-line no-await-in-loop
    if (append.some(({ type }) => type === 'news')) shown = await readShown(store, input, packet);
  }
  const told = await Promise.all(append.map((input) => readToldTexts(store, input)));
  const addresses = told.flat().flatMap((text) => text.match(/https?:\/\/\S+/giu) ?? []);
  return { content: putToolResultsFirst(content), packet, addresses };
}

/** Reads what people wrote: their answers without the questions, which agents wrote, and their instructions. */
async function readToldTexts(store: ArtifactStore, input: TurnInput): Promise<readonly string[]> {
  if (input.type === 'answers') {
    return Promise.all(input.answers.filter(isPersons).map((one) => readAnswer(store, one)));
  }
  if (input.type !== 'news') return [];
  return Promise.all(
    input.news.filter(isFromUser).map(async (one) => {
      if (one.type === 'instruction') return one.instruction;
      return one.answer_ref === null ? one.answer : store.getText(one.answer_ref);
    }),
  );
}

/** Reads the record that a first message shows the answers of; null where it shows none. */
async function readShown(
  store: ArtifactStore,
  { prompt }: Extract<TurnInput, { type: 'prompt' }>,
  packet: string,
): Promise<RunRecord | null> {
  const isShowing = packet.includes('<answered_questions>');
  if (!isShowing || !('record_ref' in prompt)) return null;
  return readRecord(store, prompt.record_ref);
}

/** Leaves out the news that the first message shows already. @returns null when none is left. */
function dropShown(input: TurnInput, shown: RunRecord | null): TurnInput | null {
  if (input.type !== 'news' || shown === null) return input;
  const news = input.news.filter((item) => !isShown(item, shown));
  return news.length === 0 ? null : { ...input, news };
}

function isShown(item: NewsItem, { answered_questions }: RunRecord): boolean {
  if (item.type === 'instruction' || item.contradicts !== undefined) return false;
  const { question_id, answer, answered_by } = item;
  return answered_questions.some(
    (one) =>
      one.question_id === question_id &&
      one.answer === answer &&
      one.answered_by === answered_by &&
      informsWork(one.question?.kind),
  );
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
