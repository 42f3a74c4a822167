import { isObject, objectsOf, parseJson, stringsOf, textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Block, MessagesRequest } from '../messages-api.ts';

/** An answer of the user as prompts carry it. */
interface PromptAnswer {
  readonly question_id: string;
  readonly text: string;
  readonly answer: string;
  readonly delegation_id: string;
}

/** What planwave's prompts say, read from their XML-like blocks. Absent blocks are empty. */
export interface Prompt {
  readonly wave: number;
  readonly goal: string;
  readonly agents: readonly JsonObject[];
  /** Most delegations that a plan may have; Infinity when the prompt sets no limit. */
  readonly delegationsMax: number;
  readonly openCriteria: readonly JsonObject[];
  /** False when the prompt had no `<open_criteria>` block. */
  readonly saysOpenCriteria: boolean;
  readonly knownInputs: readonly string[];
  readonly delegation: JsonObject;
  readonly detailIndex: readonly JsonObject[];
  readonly outcomes: readonly JsonObject[];
  /** Contradictions that a decision has to resolve. */
  readonly conflicts: readonly JsonObject[];
  /** Questions of an agent that the planner is to review. */
  readonly questions: readonly JsonObject[];
  /** Answers in the first message and in later ones, in this order. */
  readonly answers: readonly PromptAnswer[];
  /** How many messages gave an output back because it broke a rule. */
  readonly repairs: number;
  /** Texts of the tool results in the conversation, in order. */
  readonly toolResults: readonly string[];
}

/**
 * The first block of each name at the top level of `text`.
 *
 * A block begins at the start of a line, because the prose of a request mentions blocks as well. Blocks are read one
 * after the other, so a tag quoted inside a block never counts as a block of its own. Only `<request>` is walked
 * through: it may stand before the blocks or around them.
 */
function readBlocks(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  const opening = /^<([a-z_]+)(?:\s[^>]*)?>/gmu;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const name = match[1] ?? '';
    const end = text.indexOf(`</${name}>`, opening.lastIndex);
    if (name === 'request' || end === -1) continue;
    if (!blocks.has(name)) blocks.set(name, text.slice(opening.lastIndex, end).trim());
    opening.lastIndex = end + name.length + 3;
  }
  return blocks;
}

/** In a plain text block `</` is written `&lt;/`, so that no text can close its block. */
function unescapeText(text: string): string {
  return text.replaceAll('&lt;/', '</');
}

function jsonBlock(blocks: ReadonlyMap<string, string>, name: string): unknown {
  return parseJson(blocks.get(name) ?? '');
}

const textIn = (blocks: readonly Block[]): string =>
  blocks.map((block) => (block.type === 'text' ? textOf(block['text']) : '')).join('\n');

function readAnswers(value: unknown): readonly PromptAnswer[] {
  return objectsOf(value).map((answer) => ({
    question_id: textOf(answer['question_id']),
    text: textOf(answer['text']),
    answer: textOf(answer['answer']),
    delegation_id: textOf(answer['delegation_id']),
  }));
}

/** What stands between the marks of a data block; a text without marks as it is. */
function unmark(text: string): string {
  return /^<data marker="(\w+)"[^>]*>\n(.*)\n<\/data marker="\1">$/su.exec(text)?.[2] ?? text;
}

function toolResultText(block: Block): string {
  const content = block['content'];
  if (typeof content === 'string') return unmark(content);
  return objectsOf(content)
    .map((part) => textOf(part['text']))
    .join('\n');
}

/** The goal, or the beginning of the first message when no block names it. */
function readGoal(first: ReadonlyMap<string, string>, system: string, firstText: string): string {
  const goal = first.get('goal') ?? readBlocks(system).get('goal') ?? firstText;
  return unescapeText(goal).trim() || 'no goal given';
}

function readDelegationsMax(blocks: ReadonlyMap<string, string>): number {
  const limits = jsonBlock(blocks, 'limits');
  const max = isObject(limits) ? limits['max_delegations'] : undefined;
  return typeof max === 'number' ? Math.max(1, max) : Infinity;
}

/** Reads what a planwave prompt says. Never throws: what is absent or broken counts as empty. */
export function readPrompt(request: MessagesRequest): Prompt {
  const userMessages = request.messages.filter((message) => message.role === 'user');
  const firstText = textIn(userMessages[0]?.blocks ?? []);
  const first = readBlocks(firstText);
  const later = userMessages.slice(1).map((message) => readBlocks(textIn(message.blocks)));
  const delegation = jsonBlock(first, 'delegation');
  const wave = /<request[^>]*\swave="(\d+)"/u.exec(firstText)?.[1];
  return {
    wave: wave === undefined ? 1 : Math.max(1, Number(wave)),
    goal: readGoal(first, textIn(request.system), firstText),
    delegationsMax: readDelegationsMax(first),
    agents: objectsOf(jsonBlock(first, 'agents')),
    openCriteria: objectsOf(jsonBlock(first, 'open_criteria')),
    saysOpenCriteria: first.has('open_criteria'),
    knownInputs: stringsOf(jsonBlock(first, 'known_inputs')),
    delegation: isObject(delegation) ? delegation : {},
    detailIndex: ['detail_index', 'upstream_index'].flatMap((name) =>
      objectsOf(jsonBlock(first, name)),
    ),
    outcomes: objectsOf(jsonBlock(first, 'outcomes')),
    conflicts: objectsOf(jsonBlock(first, 'conflicts')),
    questions: objectsOf(jsonBlock(first, 'questions')),
    answers: [first, ...later].flatMap((blocks) => [
      ...readAnswers(jsonBlock(blocks, 'answered_questions')),
      ...readAnswers(jsonBlock(blocks, 'answers')),
    ]),
    repairs: later.filter((blocks) => blocks.has('faults')).length,
    toolResults: userMessages.flatMap((message) =>
      message.blocks.filter((block) => block.type === 'tool_result').map(toolResultText),
    ),
  };
}
