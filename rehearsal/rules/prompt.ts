import type { TaskPlace } from '../script.ts';
import {
  type Block,
  type MessagesRequest,
  isObject,
  objectsOf,
  parseJson,
  stringsOf,
  textOf,
  type JsonObject,
} from '../messages-api.ts';

/** A block of a prompt, `<name>…</name>`. */
interface PromptBlock {
  readonly name: string;
  /** Trimmed content, without the marks of data. */
  readonly text: string;
}

/**
 * Lists the blocks at the top level of `text`, in order.
 *
 * A block begins at the start of a line, because the prose of a request mentions blocks as well. Blocks are read one
 * after the other, so a tag quoted inside a block never counts as a block of its own. Only `<request>` is entered: it
 * may stand before the blocks or around them.
 */
export function listBlocks(text: string): readonly PromptBlock[] {
  const blocks: PromptBlock[] = [];
  const opening = /^<([a-z_]+)(?:\s[^<>]*)?>/gmu;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const name = match[1] ?? '';
    const end = text.indexOf(`</${name}>`, opening.lastIndex);
    if (name === 'request' || end === -1) continue;
    blocks.push({ name, text: unmark(text.slice(opening.lastIndex, end).trim()) });
    opening.lastIndex = end + name.length + 3;
  }
  return blocks;
}

/** Returns the first block of each name. */
export function firstOfEach(blocks: readonly PromptBlock[]): ReadonlyMap<string, string> {
  return new Map(blocks.toReversed().map(({ name, text }) => [name, text]));
}

/** Restores the `<` of tags that could pose as the engine's: plain text blocks write it `&lt;`. */
export function unescapeText(text: string): string {
  return text.replace(/&lt;(?=\/|[a-z])/giu, '<');
}

/** Parses the JSON of a block; undefined when there is no such block, or no JSON in it. */
export function jsonBlock(blocks: ReadonlyMap<string, string>, name: string): unknown {
  return parseJson(blocks.get(name) ?? '');
}

/** Parses the JSON object of a block; an empty one when there is none. */
export function objectBlock(blocks: ReadonlyMap<string, string>, name: string): JsonObject {
  const value = jsonBlock(blocks, name);
  return isObject(value) ? value : {};
}

/** Joins the texts of a message or of the system prompt. */
export function textIn(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? textOf(block['text']) : '')).join('\n');
}

/** Returns the content between the marks of a data block; a text without marks unchanged. */
function unmark(text: string): string {
  return /^<data marker="(\w+)"[^>]*>\n(.*)\n<\/data marker="\1">$/su.exec(text)?.[2] ?? text;
}

/** A tool that is offered only to the leader of a team. */
export const delegationTool = 'delegate_task_to_member';

const role = /^<role agent_id="([^"]*)">/mu;

/** Returns the delegation of a request; null when the request belongs to none. */
export function placeTask(request: MessagesRequest): TaskPlace | null {
  const text = textIn(request.messages[0]?.blocks ?? []);
  const agentId = role.exec(text)?.[1];
  if (agentId === undefined) return null;
  const delegation = objectBlock(firstOfEach(listBlocks(text)), 'delegation');
  return {
    delegation_id: textOf(delegation['delegation_id']),
    agent_id: agentId,
    leads: request.tools.some(({ name }) => name === delegationTool),
  };
}

interface PromptAnswer {
  readonly question_id: string;
  readonly text: string;
  readonly answer: string;
  readonly delegation_id: string;
}

/** Content of planwave's prompts, read from their XML-like blocks. Absent blocks are empty. */
export interface Prompt {
  readonly wave: number;
  readonly goal: string;
  readonly agents: readonly JsonObject[];
  /** Most delegations that a plan may have; Infinity when the prompt sets no limit. */
  readonly delegationsMax: number;
  /** True when a plan may use triads. */
  readonly allowsTriads: boolean;
  /** Named teams that a plan may give a delegation to; null when teams are not allowed. */
  readonly teams: readonly JsonObject[] | null;
  readonly openCriteria: readonly JsonObject[];
  /** False when the prompt had no `<open_criteria>` block. */
  readonly saysOpenCriteria: boolean;
  readonly knownInputs: readonly string[];
  /** Tools that the agent may call; those of a wave are offered to all of its agents. */
  readonly allowedTools: readonly string[];
  readonly delegation: JsonObject;
  /** Details that can be loaded, those that the task builds on first. */
  readonly detailIndex: readonly JsonObject[];
  readonly outcomes: readonly JsonObject[];
  /** Contradictions that a decision has to resolve. */
  readonly conflicts: readonly JsonObject[];
  /** Questions of an agent for the planner to review. */
  readonly questions: readonly JsonObject[];
  /** True when questions may go to a solution architect. */
  readonly hasArchitect: boolean;
  /** Answers in the first message and in later ones, in this order. */
  readonly answers: readonly PromptAnswer[];
  /** Work of another agent that is to be verified; empty elsewhere. */
  readonly workText: string;
  /** note_ids of the author of that work. */
  readonly noteIds: readonly string[];
  /** True when a triad has judged that work, and did not agree. */
  readonly isDisputed: boolean;
  /** True when an earlier output failed its verification. */
  readonly isRedone: boolean;
  /** Number of messages that returned an output because it broke a rule. */
  readonly repairs: number;
  /** Texts of the tool results in the conversation, in order. */
  readonly toolResults: readonly string[];
}

function readAnswers(value: unknown): readonly PromptAnswer[] {
  return objectsOf(value).map((answer) => ({
    question_id: textOf(answer['question_id']),
    text: textOf(answer['text']),
    answer: textOf(answer['answer']),
    delegation_id: textOf(answer['delegation_id']),
  }));
}

/** Reads names of inputs, each with its synonyms. */
function readNames(value: unknown): readonly string[] {
  const named = objectsOf(value).flatMap(({ name, also }) => [textOf(name), ...stringsOf(also)]);
  return [...stringsOf(value), ...named];
}

/** Lists results that the task builds on and that are not shown whole. */
function listShortResults(blocks: ReadonlyMap<string, string>): readonly JsonObject[] {
  const text = blocks.get('upstream_results') ?? '';
  return [...text.matchAll(/All of it: load_detail (\{"detail_id":"[^"]*"\})\./gu)]
    .map(([, call = '']) => parseJson(call))
    .filter(isObject);
}

function toolResultText(block: Block): string {
  const content = block['content'];
  if (typeof content === 'string') return unmark(content);
  return objectsOf(content)
    .map((part) => textOf(part['text']))
    .join('\n');
}

const readBlocks = (text: string): ReadonlyMap<string, string> => firstOfEach(listBlocks(text));

/** Returns the goal, or the beginning of the first message when no block names it. */
function readGoal(first: ReadonlyMap<string, string>, system: string, firstText: string): string {
  const goal = first.get('goal') ?? readBlocks(system).get('goal') ?? firstText;
  return unescapeText(goal).trim() || 'no goal given';
}

function readDelegationsMax(blocks: ReadonlyMap<string, string>): number {
  const max = objectBlock(blocks, 'limits')['max_delegations'];
  return typeof max === 'number' ? Math.max(1, max) : Infinity;
}

function readTeams(blocks: ReadonlyMap<string, string>): readonly JsonObject[] | null {
  if (!blocks.has('teams')) return null;
  const value = jsonBlock(blocks, 'teams');
  return objectsOf(isObject(value) ? value['teams'] : value);
}

/** Reads the content of a planwave prompt. Never throws: absent or broken parts count as empty. */
export function readPrompt(request: MessagesRequest): Prompt {
  const userMessages = request.messages.filter((message) => message.role === 'user');
  const firstText = textIn(userMessages[0]?.blocks ?? []);
  const first = readBlocks(firstText);
  const later = userMessages.slice(1).map((message) => readBlocks(textIn(message.blocks)));
  const wave = /<request[^<>]*\swave="(\d+)"/u.exec(firstText)?.[1];
  return {
    wave: wave === undefined ? 1 : Math.max(1, Number(wave)),
    goal: readGoal(first, textIn(request.system), firstText),
    delegationsMax: readDelegationsMax(first),
    agents: objectsOf(jsonBlock(first, 'agents')),
    allowsTriads: first.has('triads'),
    teams: readTeams(first),
    openCriteria: objectsOf(jsonBlock(first, 'open_criteria')),
    saysOpenCriteria: first.has('open_criteria'),
    knownInputs: readNames(jsonBlock(first, 'known_inputs')),
    allowedTools: stringsOf(jsonBlock(first, 'allowed_tools')),
    delegation: objectBlock(first, 'delegation'),
    detailIndex: [...listShortResults(first), ...objectsOf(jsonBlock(first, 'detail_index'))],
    outcomes: objectsOf(jsonBlock(first, 'outcomes')),
    conflicts: objectsOf(jsonBlock(first, 'conflicts')),
    questions: objectsOf(jsonBlock(first, 'questions')),
    hasArchitect: first.has('solution_architect'),
    answers: [first, ...later].flatMap((blocks) => [
      ...readAnswers(jsonBlock(blocks, 'answered_questions')),
      ...readAnswers(jsonBlock(blocks, 'answers')),
    ]),
    workText: first.get('work') ?? '',
    noteIds: objectsOf(objectBlock(first, 'completion_notes')['notes']).map(({ note_id }) =>
      textOf(note_id),
    ),
    isDisputed: (first.get('triad_judgement') ?? '').includes('## Minority report'),
    isRedone: first.has('verification_results') || first.has('failed_output'),
    repairs: later.filter((blocks) => blocks.has('faults')).length,
    toolResults: userMessages.flatMap((message) =>
      message.blocks.filter((block) => block.type === 'tool_result').map(toolResultText),
    ),
  };
}
