import type { OutputShape, ToolCall, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ContentBlock, ToolUseBlock, TranscriptNode } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { wholePath } from '../tools/describe-issues.ts';
import { buildOutline, checkOutlineSize } from './build-outline.ts';
import { classifyReply } from './classify-reply.ts';
import type { ReplyClass } from './classify-reply.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import type { AgentTurnDeps } from './deps.ts';
import { readOutput } from './read-output.ts';

/** Tool calls of one reply. Each is an activity and stands in history; who needs more is not choosing. */
const toolCallsMax = 100;

/** Characters of a tool's name in history. No tool has a longer one, so a cut name is as unknown as the whole. */
const toolNameCharsMax = 200;

export interface SettledTurn {
  readonly head: Ref;
  readonly reply: TurnReply;
}

type SettleDeps = Pick<AgentTurnDeps, 'store' | 'tools'>;

/** What the model answered, in the provider's words. */
export interface Answer {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
}

/**
 * Stores what came of a turn and says what it was. Content-addressed, so it may be repeated.
 *
 * @throws StoreUnavailable
 */
export async function settleTurn(
  deps: SettleDeps,
  prepared: PreparedTurn,
  shape: OutputShape,
  answer: Answer,
): Promise<SettledTurn> {
  const { store } = deps;
  const answered = classifyReply(answer);
  if (answered.type === 'dropped') return settleWithoutReply(store, prepared, answered.reply);
  const fault = answered.type === 'tools' ? findCallFault(shape, answered.calls.length) : null;
  if (fault !== null) {
    // Dropped, because the API would want a result for each of the calls.
    return settleWithoutReply(store, prepared, { type: 'malformed', faults: [fault] });
  }
  const [head, reply] = await Promise.all([
    putReply(store, prepared, answer.content),
    settleReply(deps, shape, answered),
  ]);
  return { head, reply };
}

/** The turn's own messages wait in the conversation for a reply that may still come. */
export async function settleWithoutReply(
  store: ArtifactStore,
  { waiting, waitingRef }: PreparedTurn,
  reply: TurnReply,
): Promise<SettledTurn> {
  return { head: waitingRef ?? (await putNode(store, waiting)), reply };
}

function settleReply(
  deps: SettleDeps,
  shape: OutputShape,
  answered: Exclude<ReplyClass, { type: 'dropped' }>,
): Promise<TurnReply> {
  if (answered.type === 'final') return settleFinal(deps.store, shape, answered.text);
  if (answered.type === 'tools') return settleTools(deps, answered.calls);
  return Promise.resolve({ type: answered.type });
}

async function settleFinal(
  store: ArtifactStore,
  shape: OutputShape,
  text: string,
): Promise<TurnReply> {
  const read = readOutput(shape, text);
  if (!read.ok) return { type: 'malformed', faults: read.faults };
  // Measured before anything is stored: an output that goes back leaves no artifact behind.
  const fault = checkOutlineSize(buildOutline(read.output, ''));
  if (fault !== null) return { type: 'malformed', faults: [fault] };
  const ref = await store.put(JSON.stringify(read.output.value));
  return { type: 'output', outline: buildOutline(read.output, ref) };
}

async function settleTools(
  { store, tools }: SettleDeps,
  blocks: readonly ToolUseBlock[],
): Promise<TurnReply> {
  const calls = await Promise.all(
    blocks.map(async (block): Promise<ToolCall> => ({
      tool_use_id: block.id,
      name: cutText(block.name, toolNameCharsMax),
      input_ref: await store.put(JSON.stringify(block.input ?? {})),
      ...(tools.get(block.name)?.effect === 'external' && { acts: true }),
    })),
  );
  return { type: 'tools', calls };
}

/** Only agents have tools; the planner never does the work. */
function findCallFault(shape: OutputShape, count: number): OutputFault | null {
  if (shape !== 'agent_output') {
    return {
      path: wholePath,
      reason: 'the reply called a tool, and you have none; nothing was carried out',
      hint: 'Try: answer with the JSON that was asked for.',
    };
  }
  if (count <= toolCallsMax) return null;
  return {
    path: wholePath,
    reason: `the reply made ${count} tool calls at once, at most ${toolCallsMax}; none was carried out`,
    hint: 'Try: call the few tools that you need most, look at what they give, and go on from there.',
  };
}

function putReply(
  store: ArtifactStore,
  { waiting, waitingRef }: PreparedTurn,
  content: readonly ContentBlock[],
): Promise<Ref> {
  return putNode(store, {
    ...waiting,
    parent: waitingRef ?? waiting.parent,
    messages: [...waiting.messages, { role: 'assistant', content }],
    awaiting: null,
  });
}

function putNode(store: ArtifactStore, node: TranscriptNode): Promise<Ref> {
  return store.put(JSON.stringify(node));
}
