import type { ModelTurnInput, OutputShape, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ContentBlock, Message, TranscriptNode } from '../../contracts/transcript.ts';
import { checkEvidence } from '../../core/output/check-evidence.ts';
import { findPlaceholders } from '../../core/output/find-placeholders.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { linkInputs } from '../../core/plan/link-inputs.ts';
import { wholePath } from '../text/describe-issues.ts';
import { buildOutline, checkOutlineSize } from './build-outline.ts';
import { classifyReply } from './classify-reply.ts';
import type { ReplyClass } from './classify-reply.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import type { AgentTurnDeps } from './deps.ts';
import { readEvidenceSources } from './evidence-sources.ts';
import { readOutput, readPassingOutput, toText } from './read-output.ts';
import type { Output } from './read-output.ts';
import { settleCalls } from './settle-calls.ts';

const mayCall: ReadonlySet<OutputShape> = new Set(['agent_output', 'member_turn', 'wave_decision']);

/** Tool calls of one reply. Each is an activity and stands in history; who needs more is not choosing. */
const toolCallsMax = 100;

export interface SettledTurn {
  readonly head: Ref;
  readonly reply: TurnReply;
}

type SettleDeps = Pick<AgentTurnDeps, 'store' | 'tools'>;

type ToolsReply = Extract<ReplyClass, { type: 'tools' }>;

/** What was asked for. */
type Asked = Pick<ModelTurnInput, 'shape' | 'state_tools' | 'passable'>;

/** What the model answered, in the provider's words. */
export interface Answer {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  /** As in ModelReply. */
  readonly refusal?: string;
}

/**
 * Stores what came of a turn and says what it was. Content-addressed, so it may be repeated.
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
      ? settleFinal(store, asked, answered.text, prepared)
      : ({ type: 'paused' } as const),
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

async function settleFinal(
  store: ArtifactStore,
  { shape, passable }: Asked,
  text: string,
  { asked: { planning }, request: { messages } }: PreparedTurn,
): Promise<TurnReply> {
  const read =
    shape === 'agent_output' && passable !== undefined
      ? await readPassingOutput(store, text, passable)
      : readOutput(shape, text);
  if (!read.ok) return { type: 'malformed', faults: read.faults };
  const output = completeOutput(read.output, planning?.known_inputs ?? []);
  // Measured before anything is stored: an output that goes back leaves no artifact behind.
  const fault = checkOutlineSize(buildOutline(output, ''));
  if (fault !== null) return { type: 'malformed', faults: [fault] };
  const ref = await store.put(toText(output));
  return { type: 'output', outline: buildOutline(output, ref, checkTexts(output, messages)) };
}

/** What only the texts show: here they are at hand, and the rules of workflows see none. */
function checkTexts({ shape, value }: Output, messages: readonly Message[]): OutputFault[] {
  if (shape !== 'agent_output') return [];
  return [
    ...checkEvidence(value, readEvidenceSources(messages)),
    ...(value.status === 'completed' ? findPlaceholders(value.detailed_md, 'detailed_md') : []),
  ];
}

/** A plan as it is kept says also what follows from its names. */
function completeOutput(output: Output, knownInputs: readonly string[]): Output {
  if (output.shape !== 'wave_plan') return output;
  const { shape, value } = output;
  return { shape, value: { ...value, delegations: linkInputs(value.delegations, knownInputs) } };
}

async function settleTools(
  deps: SettleDeps,
  prepared: PreparedTurn,
  { shape, state_tools }: Asked,
  { answer, answered }: { readonly answer: Answer; readonly answered: ToolsReply },
): Promise<SettledTurn> {
  const { store } = deps;
  const fault = findCallFault(shape, answered.calls.length);
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

/** The reply is not kept, because the API would want a result for each of its calls. */
function dropCalls(
  store: ArtifactStore,
  prepared: PreparedTurn,
  fault: OutputFault,
): Promise<SettledTurn> {
  return settleWithoutReply(store, prepared, { type: 'malformed', faults: [fault] });
}

/** Agents have tools, and the planner where it decides on a wave; who plans, reviews or writes code has none. */
function findCallFault(shape: OutputShape, count: number): OutputFault | null {
  if (!mayCall.has(shape)) {
    return {
      path: wholePath,
      reason: 'the reply called a tool, and you have none; nothing was carried out',
      hint: `Try: answer with the ${shape === 'code' ? 'code' : 'JSON'} that was asked for.`,
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
