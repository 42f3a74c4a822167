import { ApplicationFailure } from '@temporalio/activity';
import type {
  TurnReply,
  ModelTurnInput,
  ModelTurnResult,
  TurnOutline,
} from '../../contracts/model-turn.ts';
import type { ContentBlock, ToolUseBlock } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Stage } from '../stages/stage.ts';
import { countBytes } from '../text/bytes.ts';
import { wholePath } from '../text/describe-issues.ts';
import { putNode } from './conversation.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import type { AgentTurnDeps } from './deps.ts';
import { settleCalls } from './settle-calls.ts';
import type { ModelReply } from '../ports/model-client.ts';

/** Maximum characters of a refusal that go into history. */
const refusalTextMax = 2_000;

type ReplyClass =
  /** Final text, to be read in the requested shape. */
  | { readonly type: 'final'; readonly text: string }
  /** `text` is the text beside the calls, and may be empty. */
  | { readonly type: 'tools'; readonly calls: readonly ToolUseBlock[]; readonly text: string }
  | { readonly type: 'paused' }
  /** Nothing of it may be sent back: the conversation continues without it. */
  | { readonly type: 'dropped'; readonly reply: TurnReply };

/** Sorts a reply by its stop reason. A reply that was cut off is never read. */
function classifyReply(reply: Answer): ReplyClass {
  switch (reply.stopReason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return classifyWhole(reply.content);
    case 'pause_turn':
      return reply.content.length > 0 ? { type: 'paused' } : drop({ type: 'empty' });
    case 'max_tokens':
      return drop({ type: 'truncated' });
    case 'model_context_window_exceeded':
      return drop({ type: 'context_exceeded' });
    case 'refusal':
      return drop({ type: 'refused', text: cutText(describeRefusal(reply), refusalTextMax) });
    default:
      return drop({ type: 'unknown_stop', stop_reason: cutText(reply.stopReason, 100) });
  }
}

/** Classifies a complete reply. Tool calls are answered whatever the stop reason: the API insists on their results. */
function classifyWhole(content: readonly ContentBlock[]): ReplyClass {
  const calls = content.filter((block) => block.type === 'tool_use');
  const text = textOf(content);
  if (calls.length > 0) return { type: 'tools', calls, text };
  return text.trim() === '' ? drop({ type: 'empty' }) : { type: 'final', text };
}

/** Joins what the provider says of the refusal and what the model had written. Empty when neither said anything. */
function describeRefusal({
  content,
  refusal = '',
}: Pick<ModelReply, 'content' | 'refusal'>): string {
  return [refusal, textOf(content)].filter((text) => text.trim() !== '').join('\n');
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function drop(reply: TurnReply): ReplyClass {
  return { type: 'dropped', reply };
}

/** Maximum tool calls of one reply. Each is an activity and is kept in history; a reply with more does not choose. */
const toolCallsMax = 100;

/** Maximum bytes of an outline as JSON. It goes into history; longer texts belong into the Markdown fields. */
const outlineBytesMax = 64_000;

/** Maximum bytes of a result as JSON. It goes into history once per turn. */
const resultBytesMax = 100_000;

export interface SettledTurn {
  readonly head: Ref;
  readonly reply: TurnReply;
}

type SettleDeps = Pick<AgentTurnDeps, 'store' | 'tools'>;

type ToolsReply = Extract<ReplyClass, { type: 'tools' }>;

/** The parts of the input that say what was asked for. */
type Asked = Pick<ModelTurnInput, 'state_tools' | 'passable'>;

/** The model's answer, in the provider's words. */
export type Answer = Pick<ModelReply, 'content' | 'stopReason' | 'refusal'>;

/**
 * Stores the outcome of a turn and describes it. Content-addressed, so it may be repeated.
 *
 * @throws StoreUnavailable
 */
export async function settleTurn(
  deps: SettleDeps,
  prepared: PreparedTurn,
  asked: Asked,
  answer: Answer,
): Promise<SettledTurn> {
  const { store } = deps;
  const answered = classifyReply(answer);
  if (answered.type === 'dropped') return settleWithoutReply(store, prepared, answered.reply);
  if (answered.type === 'tools') return settleTools(deps, prepared, asked, { answer, answered });
  const [head, reply] = await Promise.all([
    putReply(store, prepared, answer.content),
    answered.type === 'final'
      ? settleFinal(deps, asked, { text: answered.text, content: answer.content }, prepared)
      : ({ type: 'paused' } as const),
  ]);
  return { head, reply };
}

/** Ends a turn without a reply: its own messages wait in the conversation for a reply that may still come. */
export async function settleWithoutReply(
  store: ArtifactStore,
  { waiting, waitingRef }: PreparedTurn,
  reply: TurnReply,
): Promise<SettledTurn> {
  return { head: waitingRef ?? (await putNode(store, waiting)), reply };
}

async function settleFinal(
  { store, tools }: SettleDeps,
  { passable }: Asked,
  { text, content }: { readonly text: string } & Pick<Answer, 'content'>,
  { asked: { stage, planning }, request: { messages } }: PreparedTurn,
): Promise<TurnReply> {
  const taken = await stage.reply.take(text, {
    store,
    passable,
    planning,
    messages,
    tools,
    content,
  });
  if (!taken.ok) return { type: 'malformed', faults: taken.faults };
  // Measured before anything is stored: an output that goes back leaves no artifact behind.
  const fault = checkOutlineSize(taken.outline(''));
  if (fault !== null) return { type: 'malformed', faults: [fault] };
  const ref = await store.put(taken.text);
  return { type: 'output', outline: taken.outlineChecked?.(ref) ?? taken.outline(ref) };
}

/** @returns the fault to send back, or null when the outline is small enough. */
function checkOutlineSize(outline: TurnOutline): OutputFault | null {
  const bytes = countBytes(JSON.stringify(outline));
  if (bytes <= outlineBytesMax) return null;
  const [path, size] = findLargest(outline);
  return {
    path,
    reason: `the output without its Markdown takes ${bytes} bytes, at most ${outlineBytesMax}; this field takes ${size}`,
    hint: 'Try: shorten it: fewer entries, shorter names and texts. Long text belongs into Markdown fields and task descriptions.',
  };
}

function findLargest(outline: TurnOutline): [path: string, bytes: number] {
  const { shape: _shape, ...body } = outline;
  const fields = Object.values(body).flatMap((fieldsOfBody: object | string | number) =>
    typeof fieldsOfBody === 'object' ? Object.entries(fieldsOfBody) : [],
  );
  const sizes = fields.map(([name, value]): [string, number] => [
    name,
    countBytes(JSON.stringify(value)),
  ]);
  return sizes.reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['$', 0]);
}

async function settleTools(
  deps: SettleDeps,
  prepared: PreparedTurn,
  { state_tools }: Asked,
  { answer, answered }: { readonly answer: Answer; readonly answered: ToolsReply },
): Promise<SettledTurn> {
  const { store } = deps;
  const fault = findCallFault(prepared.asked.stage, answered.calls.length);
  if (fault !== null) return dropCalls(store, prepared, fault);
  const isHeard = state_tools !== undefined && answered.text.trim() !== '';
  const [settled, head, said_ref] = await Promise.all([
    settleCalls({ ...deps, stateTools: state_tools }, answered.calls),
    putReply(store, prepared, answer.content),
    isHeard ? store.put(answered.text) : undefined,
  ]);
  if (!settled.ok) return dropCalls(store, prepared, settled.fault);
  const { calls } = settled;
  return { head, reply: { type: 'tools', calls, ...(said_ref !== undefined && { said_ref }) } };
}

/** Drops the calls. The reply is not kept, because the API would want a result for each of its calls. */
function dropCalls(
  store: ArtifactStore,
  prepared: PreparedTurn,
  fault: OutputFault,
): Promise<SettledTurn> {
  return settleWithoutReply(store, prepared, { type: 'malformed', faults: [fault] });
}

function findCallFault({ tools, reply }: Stage, count: number): OutputFault | null {
  if (tools === 'none') {
    return {
      path: wholePath,
      reason: 'the reply called a tool, and you have none; nothing was carried out',
      hint: `Try: answer with the ${reply.noun} that was asked for.`,
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

/**
 * Checks a result's size. Everything in it is bounded where it is created, so this never fails; if it does, the paid
 * reply is not lost.
 */
export function assertSmall(result: ModelTurnResult): void {
  const bytes = countBytes(JSON.stringify(result));
  if (bytes <= resultBytesMax) return;
  throw ApplicationFailure.create({
    type: 'ModelProtocol',
    message: `The model's reply makes a result of ${bytes} bytes, at most ${resultBytesMax}.`,
    nonRetryable: true,
    details: [{ usage: result.usage }],
  });
}
