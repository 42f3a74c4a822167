import type { ModelTurnInput, TurnCall, TurnInput } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import {
  transcriptVersions,
  type ContentBlock,
  type Message,
  type PacketBlock,
  type StoredNode,
  type TranscriptNode,
  type ToolResultBlock,
  type ToolUseBlock,
  type TurnTerms,
} from '../../contracts/transcript.ts';
import { hashText } from '../../core/text/hash-text.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { needsTerms, restoreCall } from '../../core/turns/turn-call.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import { readJson } from '../artifacts/read-artifact.ts';
import { countBytes } from '../text/bytes.ts';
import type { ToolRegistry } from '../tools/tool.ts';
import { packetSeparator, putToolResultsFirst } from './render-append.ts';

/**
 * Maximum number of nodes. A longer conversation is a fault in the engine: a delegation's turns are limited far below.
 */
const nodesMax = 10_000;

/** Conversation as read from its chain of nodes. */
export interface Conversation {
  readonly head: Ref | null;
  /** Oldest first. */
  readonly nodes: readonly TranscriptNode[];
}

/** @throws ArtifactCorrupt when a node of the chain is missing or damaged. */
export async function loadConversation(
  store: ArtifactStore,
  head: Ref | null,
): Promise<Conversation> {
  const nodes: TranscriptNode[] = [];
  for (let ref = head; ref !== null; ref = nodes.at(-1)?.parent ?? null) {
    if (nodes.length === nodesMax) {
      throw new ArtifactCorrupt(`The transcript ${head} has no end.`, { ref, path: ref });
    }
    // Each node names the one before it.
    // oxlint-disable-next-line no-await-in-loop
    nodes.push(await readNode(store, ref));
  }
  return { head, nodes: nodes.toReversed() };
}

/**
 * Completes a call with the terms that its conversation keeps.
 *
 * @returns the input, and the node with the terms; null for a call that names them itself.
 * @throws ArtifactCorrupt when the conversation does not keep the terms that the call leaves out.
 */
export async function readCall(
  store: ArtifactStore,
  call: TurnCall,
): Promise<{ readonly input: ModelTurnInput; readonly terms_at: Ref | null }> {
  const { head } = call;
  const { terms_at, terms } =
    head === null || !needsTerms(call) ? noTerms : await findTerms(store, head);
  const input = restoreCall(call, terms);
  if (input !== null) return { input, terms_at };
  const message = `The transcript ${head} does not have the terms that the call leaves out.`;
  throw new ArtifactCorrupt(message, { ref: head ?? '', path: head ?? '' });
}

interface FoundTerms {
  readonly terms_at: Ref | null;
  readonly terms: TurnTerms | null;
}

const noTerms: FoundTerms = { terms_at: null, terms: null };

async function findTerms(store: ArtifactStore, head: Ref): Promise<FoundTerms> {
  const newest = await readNode(store, head);
  if (newest.terms !== undefined) return { terms_at: head, terms: newest.terms };
  const { terms_at } = newest;
  if (terms_at === undefined) return noTerms;
  return { terms_at, terms: (await readNode(store, terms_at)).terms ?? null };
}

/** Returns true when a new node keeps these terms unchanged: what looks like a secret is removed from the store. */
export async function keepsTerms(
  store: ArtifactStore,
  node: Ref,
  terms: TurnTerms | undefined,
): Promise<boolean> {
  if (terms === undefined) return false;
  const stored = await readNode(store, node);
  return JSON.stringify(stored.terms) === JSON.stringify(terms);
}

/** Returns the number of the next turn, from 1. Calls that left no reply in the conversation don't count. */
export function nextTurn(conversation: Conversation): number {
  return conversation.nodes.filter((node) => node.awaiting === null).length + 1;
}

/** True if the newest node's reply is missing. */
export function isWaiting(conversation: Conversation): boolean {
  return (conversation.nodes.at(-1)?.awaiting ?? null) !== null;
}

/** True if the newest node took these very inputs already and still waits for its reply. */
export function hasTaken(conversation: Conversation, append: readonly TurnInput[]): boolean {
  return conversation.nodes.at(-1)?.awaiting === hashAppend(append);
}

export function hashAppend(append: readonly TurnInput[]): string {
  return hashText(JSON.stringify(append));
}

/**
 * Returns the messages to send. Consecutive ones of one role are joined, because the API's roles alternate and a turn
 * whose reply was not kept leaves its user message behind.
 *
 * Opaque blocks, such as thinking, belong to the model that wrote them: those of another model are left out.
 */
export function joinMessages(nodes: readonly TranscriptNode[], model: string): Message[] {
  const joined: Message[] = [];
  for (const node of nodes) {
    for (const message of node.messages) {
      const content =
        node.model === model
          ? message.content
          : message.content.filter((block) => block.type !== 'opaque');
      const last = joined.at(-1);
      if (last?.role !== message.role) joined.push({ role: message.role, content });
      else joined[joined.length - 1] = { ...last, content: joinContent(last, content) };
    }
  }
  return joined.filter((message) => message.content.length > 0);
}

function joinContent(before: Message, content: readonly ContentBlock[]): readonly ContentBlock[] {
  const both = [...before.content, ...content];
  return before.role === 'user' ? putToolResultsFirst(both) : both;
}

/** @throws ArtifactCorrupt when the node is missing, damaged or of another version. */
export async function readNode(store: ArtifactStore, ref: Ref): Promise<TranscriptNode> {
  const node = await readJson(store, ref);
  if (isStoredNode(node)) return unfoldPacket(store, node);
  const versions = transcriptVersions.join(' or ');
  const message = `The artifact ${ref} is no transcript node of version ${versions}.`;
  throw new ArtifactCorrupt(message, { ref, path: ref });
}

function isStoredNode(value: unknown): value is StoredNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    transcriptVersions.some((version) => version === value.version) &&
    'messages' in value &&
    Array.isArray(value.messages)
  );
}

/**
 * Stores a node. Blocks whose text the packet's artifact has are stored by their length: a packet is the largest text of
 * most conversations, and would otherwise be stored twice.
 *
 * @throws StoreUnavailable
 */
export async function putNode(store: ArtifactStore, node: TranscriptNode): Promise<Ref> {
  const { packet_ref } = node;
  if (packet_ref === null) return store.put(JSON.stringify(node));
  // Read back: where a secret was removed from the packet, the text of the block is kept.
  const packet = await store.getText(packet_ref);
  let at = 0;
  const fold = (block: ContentBlock): ContentBlock | PacketBlock => {
    if (block.type !== 'text' || !packet.startsWith(block.text, at)) return block;
    const { text, ...rest } = block;
    at += text.length + packetSeparator.length;
    return { ...rest, type: 'packet', chars: text.length };
  };
  const messages = node.messages.map(({ role, content }) => ({ role, content: content.map(fold) }));
  return store.put(JSON.stringify({ ...node, messages } satisfies StoredNode));
}

/** @throws ArtifactCorrupt when the packet is missing or damaged. */
async function unfoldPacket(store: ArtifactStore, node: StoredNode): Promise<TranscriptNode> {
  const packet = node.packet_ref === null ? '' : await store.getText(node.packet_ref);
  let at = 0;
  const unfold = (block: ContentBlock | PacketBlock): ContentBlock => {
    if (block.type !== 'packet') return block;
    const { chars, ...rest } = block;
    const text = packet.slice(at, at + chars);
    at += chars + packetSeparator.length;
    return { ...rest, type: 'text', text };
  };
  const messages = node.messages.map(({ role, content }) => ({
    role,
    content: content.map(unfold),
  }));
  return { ...node, messages };
}

/**
 * Chooses the tool results to leave out so that half of the conversation's bytes are gone: the oldest first, as many as
 * necessary, never the newest, because the model has just requested it.
 *
 * @param leftOut ids that earlier turns left out.
 * @returns further ids to leave out. Empty when nothing more can be left out.
 */
export function chooseLeftOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
  tools: ToolRegistry,
): readonly string[] {
  const shown = leaveOut(messages, leftOut, tools);
  const results = shown
    .flatMap((message) => message.content)
    .filter((block) => block.type === 'tool_result')
    .filter((block) => !leftOut.has(block.tool_use_id));
  let toGo = countBytes(JSON.stringify(shown)) / 2;
  const chosen: string[] = [];
  for (const result of results.slice(0, -1)) {
    if (toGo <= 0) break;
    chosen.push(result.tool_use_id);
    toGo -= countBytes(result.content);
  }
  return chosen;
}

/** Replaces each result that is left out by a line that says what it was and how to get it again. */
export function leaveOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
  tools: ToolRegistry,
): readonly Message[] {
  if (leftOut.size === 0) return messages;
  const calls = new Map(
    messages
      .flatMap((message) => message.content)
      .filter((block) => block.type === 'tool_use')
      .map((block) => [block.id, block]),
  );
  return messages.map((message) => ({
    role: message.role,
    content: message.content.map((block) =>
      block.type === 'tool_result' && leftOut.has(block.tool_use_id)
        ? { ...block, content: describeLeftOut(block, calls.get(block.tool_use_id), tools) }
        : block,
    ),
  }));
}

function describeLeftOut(
  result: ToolResultBlock,
  call: ToolUseBlock | undefined,
  tools: ToolRegistry,
): string {
  const bytes = countBytes(result.content);
  const input = cutText(JSON.stringify(call?.input ?? {}), 300);
  const { content } = result;
  const told =
    tools.get(call?.name ?? '')?.describeLeftOut?.({ input, content, bytes }) ??
    `: the result of ${call?.name ?? 'a tool'} ${input}, ${bytes} bytes.`;
  return `[Left out to save space${told}]`;
}
