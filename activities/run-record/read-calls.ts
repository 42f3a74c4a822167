import { triadPhases } from '../../contracts/names.ts';
import type { PageConversation, PageTurn } from '../../contracts/run-page.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { ContentBlock, TranscriptNode } from '../../contracts/transcript.ts';
import { readPlace, type Place } from '../../core/ids.ts';
import { isOfRun, listAttempts, type ListedAttempt } from '../agent-turn/attempt-ledger.ts';
import { readNode } from '../agent-turn/conversation.ts';
import { readRegistry, type RegistrySnapshot } from '../artifacts/read-artifact.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import type { ReplyLedger } from '../ports/reply-ledger.ts';
import { stages } from '../stages/stages.ts';

/** Conversations that belong to one piece of work. */
export interface PlacedCalls {
  /** 0 for those of a design. */
  readonly wave: number;
  /** Null for the planner's. */
  readonly delegation_id: string | null;
  /** Null outside of a triad. */
  readonly phase: string | null;
  /** In the order of their first calls. */
  readonly conversations: readonly PageConversation[];
}

interface Call {
  readonly entry: ListedAttempt;
  /** Null without a reply, and where the store does not have it. */
  readonly node: TranscriptNode | null;
}

type Placed = Omit<PlacedCalls, 'conversations'> & { readonly calls: Call[][] };

/**
 * Reads every call that was made for the work of a run from the ledger, and its texts from the store.
 *
 * @param speakers Members of triads by the texts that they said.
 * @throws {ArtifactCorrupt} when the run's agents are missing or damaged.
 * @throws {StoreUnavailable} when the store or the ledger can't be read.
 */
export async function readCalls(
  { store, ledger }: { readonly store: ArtifactStore; readonly ledger: ReplyLedger },
  record: RunRecord,
  speakers: ReadonlyMap<Ref, string>,
): Promise<readonly PlacedCalls[]> {
  const entries = (await listAttempts(ledger, record.run_id, record.started_at * 1_000))
    .filter(({ value }) => isOfRun(value))
    .toSorted((a, b) => a.begun_at - b.begun_at);
  const registry = await readRegistry(store, record.registry_ref);
  const calls = await Promise.all(entries.map((entry) => readCall(store, entry)));
  const placed = new Map<string, Placed>();
  /** Conversations by their newest node, and by the nodes before it. */
  const known = new Map<Ref, Call[]>();
  for (const call of calls) {
    const parent = call.node?.parent ?? null;
    const before = parent === null ? undefined : known.get(parent);
    const conversation = before ?? [];
    conversation.push(call);
    if (parent !== null) known.set(parent, conversation);
    const head = call.entry.value.result?.head;
    if (head !== undefined) known.set(head, conversation);
    if (before !== undefined) continue;
    const place = placeOf(record, call);
    const key = JSON.stringify(place);
    const own = placed.get(key) ?? { ...place, calls: [] };
    own.calls.push(conversation);
    placed.set(key, own);
  }
  return [...placed.values()].map(({ calls: conversations, ...place }) => ({
    ...place,
    conversations: conversations.map((one) => toConversation(one, registry, speakers)),
  }));
}

async function readCall(store: ArtifactStore, entry: Call['entry']): Promise<Call> {
  const { result } = entry.value;
  try {
    return { entry, node: result === null ? null : await readNode(store, result.head) };
  } catch (error) {
    // One lost text does not hide the others.
    if (error instanceof ArtifactCorrupt) return { entry, node: null };
    throw error;
  }
}

const phasePattern = new RegExp(`/(?:${triadPhases.join('|')})(?:-\\d{1,9})?$`);

function placeOf(record: RunRecord, { entry }: Call): Omit<Placed, 'calls'> {
  const { key, value } = entry;
  const { workflow_id } = key;
  const isPhase = workflow_id !== record.run_id && phasePattern.test(workflow_id);
  const place = readPlace(workflow_id, isPhase ? 'triadPhase' : null);
  const delegation_id = value.call.delegation_id ?? delegationOf(place);
  // A part that was started by hand is its own wave; a design comes before the first one.
  const first = record.waves[0]?.wave ?? 1;
  const isDesign = record.design !== undefined && delegation_id === null;
  return {
    wave: place.wave ?? (isDesign ? 0 : first),
    delegation_id,
    phase: place.phase ?? null,
  };
}

function delegationOf({ delegation, task }: Place): string | null {
  if (delegation === undefined) return null;
  return task === undefined ? delegation : `${delegation}.${task}`;
}

function toConversation(
  calls: readonly Call[],
  registry: RegistrySnapshot,
  speakers: ReadonlyMap<Ref, string>,
): PageConversation {
  const { agent_id = '', stage = 'delegation' } = calls[0]?.entry.value.call ?? {};
  const agent = [...registry.agents, ...registry.designers].find(
    (one) => one.agent_id === agent_id,
  );
  const planning = calls[0]?.node?.planning ?? null;
  const system = agent === undefined ? [] : stages[stage].system(agent, planning);
  return {
    agent_id,
    member: calls.map((call) => speakers.get(saidRef(call) ?? '')).find(isKnown) ?? null,
    stage,
    system: system.map(({ text }) => text),
    turns: calls.map(toTurn),
  };
}

function isKnown(name: string | undefined): name is string {
  return name !== undefined;
}

function saidRef({ entry }: Call): Ref | undefined {
  const reply = entry.value.result?.reply;
  if (reply?.type === 'tools') return reply.said_ref;
  return reply?.type === 'output' && reply.outline.shape === 'member_turn'
    ? reply.outline.said_ref
    : undefined;
}

function toTurn({ entry, node }: Call): PageTurn {
  const { result, spent } = entry.value;
  return {
    begun_at: entry.begun_at,
    ended_at: result === null ? null : entry.written_at,
    attempt: entry.attempt,
    model: result?.model ?? '',
    request_id: result?.request_id ?? null,
    // That of the result is the sum of all attempts, and each of them is a turn.
    usage: spent,
    reply_type: result?.reply.type ?? null,
    sent: blocksOf(node, 'user'),
    reply: blocksOf(node, 'assistant'),
  };
}

function blocksOf(
  node: TranscriptNode | null,
  role: 'user' | 'assistant',
): readonly ContentBlock[] {
  return (node?.messages ?? []).flatMap((message) =>
    message.role === role ? message.content : [],
  );
}
