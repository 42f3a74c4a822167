import type { TurnPlace } from '../script.ts';
import {
  type MessagesRequest,
  isObject,
  objectsOf,
  stringsOf,
  textOf,
  type JsonObject,
} from '../messages-api.ts';
import { firstOfEach, jsonBlock, listBlocks, objectBlock, textIn } from './prompt.ts';

/** A section of the spec in a turn's prompt. */
export interface ShownSection {
  readonly section_id: string;
  readonly owner: string | null;
  readonly status: string;
  readonly version: number;
  readonly text: string;
  /** Criteria that are unmet while it is disputed. */
  readonly criterion_ids: readonly string[];
}

/** An open claim in a turn's prompt. */
export interface ShownClaim {
  readonly claim_id: string;
  readonly section_id: string;
  readonly member: string;
  readonly revision: number;
  readonly proposal: string;
  /** Members that agreed to the newest revision: its author, and those that conceded to it. */
  readonly agreed: readonly string[];
}

interface ShownDuties {
  /** claim_ids to answer. */
  readonly answer: readonly string[];
  /** section_ids to claim. */
  readonly claim: readonly string[];
  readonly claimsMin: number;
  /** True when an orchestrator has to give a turn. */
  readonly assign: boolean;
  /** section_ids to be done. */
  readonly finish: readonly string[];
  readonly summary: boolean;
}

interface TakenCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** Content of a member's newest turn, read from its blocks. Absent blocks are empty. */
export interface MemberPrompt extends TurnPlace {
  readonly type: string;
  /** Names and roles of all three, in the order of the plan. */
  readonly team: readonly { readonly name: string; readonly role: string }[];
  readonly roundsMax: number;
  /** Number of turns of this conversation, including this one. */
  readonly turns: number;
  readonly duties: ShownDuties;
  readonly sections: readonly ShownSection[];
  readonly claims: readonly ShownClaim[];
  /** Calls of this turn that were carried out. */
  readonly taken: readonly TakenCall[];
  /** Names of the offered tools. */
  readonly tools: readonly string[];
}

const requestKind = /<request[^<>]*\skind="member"/u;

const numberOf = (value: unknown, fallback: number): number =>
  typeof value === 'number' ? value : fallback;

function readSections(value: unknown): readonly ShownSection[] {
  return objectsOf(value).map((section) => ({
    section_id: textOf(section['section_id']),
    owner: textOf(section['owner']) || null,
    status: textOf(section['status']),
    version: numberOf(section['version'], 1),
    text: textOf(section['text']),
    criterion_ids: stringsOf(section['criterion_ids']),
  }));
}

function readAgreed(claim: JsonObject): readonly string[] {
  const conceded = objectsOf(claim['responses']).filter(
    (one) => one['decision'] === 'CONCEDE' && one['revision'] === claim['revision'],
  );
  return [textOf(claim['revised_by']), ...conceded.map(({ member }) => textOf(member))];
}

function readClaims(value: unknown): readonly ShownClaim[] {
  return objectsOf(value).map((claim) => ({
    claim_id: textOf(claim['claim_id']),
    section_id: textOf(claim['section_id']),
    member: textOf(claim['member']),
    revision: numberOf(claim['revision'], 1),
    proposal: textOf(claim['proposal']),
    agreed: readAgreed(claim),
  }));
}

function readDuties(value: unknown): ShownDuties {
  const duties = isObject(value) ? value : {};
  return {
    answer: stringsOf(duties['answer']),
    claim: stringsOf(duties['claim']),
    claimsMin: numberOf(duties['claims_min'], 0),
    assign: duties['assign'] === true,
    finish: stringsOf(duties['finish']),
    summary: duties['summary'] === true,
  };
}

/** A turn's own blocks, and the index of its message. */
interface Turn {
  readonly at: number;
  readonly blocks: ReadonlyMap<string, string>;
}

/** Lists the turns of a member's conversation: each begins with `<your_turn>`. */
export function listTurns(request: MessagesRequest): readonly Turn[] {
  return request.messages.flatMap((message, at) => {
    if (message.role !== 'user') return [];
    const blocks = listBlocks(textIn(message.blocks));
    const starts = blocks.flatMap(({ name }, start) => (name === 'your_turn' ? [start] : []));
    return starts.map((start, index) => ({
      at,
      blocks: firstOfEach(blocks.slice(start, starts[index + 1])),
    }));
  });
}

/** Lists the tool calls after a message that did not fail. */
function listTaken(request: MessagesRequest, after: number): readonly TakenCall[] {
  const blocks = request.messages.slice(after + 1).flatMap((message) => message.blocks);
  const refused = new Set(
    blocks.filter((block) => block['is_error'] === true).map((block) => block['tool_use_id']),
  );
  return blocks
    .filter((block) => block.type === 'tool_use' && !refused.has(block['id']))
    .map(({ name, input }) => ({ name: textOf(name), input: isObject(input) ? input : {} }));
}

/**
 * Reads the newest turn of a triad's member. Never throws: broken parts count as empty.
 *
 * @returns null when the request is no turn of a member.
 */
export function readMember(request: MessagesRequest): MemberPrompt | null {
  const firstText = textIn(request.messages[0]?.blocks ?? []);
  if (!requestKind.test(firstText)) return null;
  const turns = listTurns(request);
  const turn = turns.at(-1);
  if (turn === undefined) return null;
  const triad = objectBlock(firstOfEach(listBlocks(firstText)), 'triad');
  const yourTurn = objectBlock(turn.blocks, 'your_turn');
  return {
    type: textOf(triad['type']),
    phase: textOf(triad['phase']),
    member: textOf(triad['member']),
    role: textOf(triad['role']),
    team: objectsOf(triad['team']).map(({ name, role }) => ({
      name: textOf(name),
      role: textOf(role),
    })),
    round: numberOf(yourTurn['round'], 1),
    roundsMax: numberOf(yourTurn['rounds_max'], 1),
    turns: turns.length,
    duties: readDuties(yourTurn['duties']),
    sections: readSections(jsonBlock(turn.blocks, 'spec')),
    claims: readClaims(jsonBlock(turn.blocks, 'claims')),
    taken: listTaken(request, turn.at),
    tools: request.tools.map((tool) => textOf(tool['name'])),
  };
}

/** Returns the turn of a triad that a request belongs to; null when it is none. */
export function placeTurn(request: MessagesRequest): TurnPlace | null {
  const prompt = readMember(request);
  if (prompt === null) return null;
  const { member, role, phase, round } = prompt;
  return { member, role, phase, round };
}
