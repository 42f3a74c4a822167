import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/activity';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TranscriptNode } from '../../contracts/transcript.ts';
import { workPlace } from '../../core/ids.ts';
import { termsOf } from '../../core/turns/turn-call.ts';
import { readAgent } from '../artifacts/read-artifact.ts';
import { stages } from '../stages/stages.ts';
import type { ModelRequest } from '../ports/model-client.ts';
import { grantTools, offerStateTools } from '../tools/tool.ts';
import { addOutput, readAsked, shrinkForm } from './asked-output.ts';
import type { AskedOutput } from './asked-output.ts';
import { chooseLeftOut, leaveOut } from './compact-messages.ts';
import {
  hasTaken,
  hashAppend,
  isWaiting,
  joinMessages,
  loadConversation,
  nextTurn,
} from './conversation.ts';
import type { Conversation } from './conversation.ts';
import type { AgentTurnDeps } from './deps.ts';
import { offerTools } from './offer-tools.ts';
import { renderAppend } from './render-append.ts';

export interface PreparedTurn {
  readonly turn: number;
  readonly request: ModelRequest;
  readonly asked: AskedOutput;
  /** Node that waits for the reply. Its `messages` hold what the turn appended, and its parent the rest. */
  readonly waiting: TranscriptNode;
  /** The address of that node, when an earlier call appended the same and stored it; else null. */
  readonly waitingRef: Ref | null;
}

/**
 * Builds everything that a model call needs from artifacts: the same input always gives the same request.
 *
 * @param termsAt Node with the terms of the call; null when the call named them.
 * @throws ArtifactCorrupt or StoreUnavailable from the store; InvalidInput when there is nothing to send;
 * ModelContextExceeded when it is to be compacted and nothing can be left out.
 */
export async function prepareTurn(
  deps: AgentTurnDeps,
  input: ModelTurnInput,
  callKey: string,
  termsAt: Ref | null,
): Promise<PreparedTurn> {
  const [agent, conversation] = await Promise.all([
    readAgent(deps.store, input.registry_ref, input.agent_id),
    loadConversation(deps.store, input.head),
  ]);
  const asked = await readAsked(deps.store, input, conversation.nodes);
  const { web } = asked.stage;
  const model = chooseModel(deps, input, agent, web !== undefined);
  const offered = await offerTools(deps, input, conversation.nodes, agent.allowed_tools);
  const speaker = { agent, model, offered, asked, callKey };
  const delta = await appendTo(deps, conversation, input, speaker);
  const nodes = [...conversation.nodes, delta];
  const messages = joinMessages(nodes, model);
  if (messages.length === 0) {
    const message = 'A conversation has to begin with a prompt. Try: append {"type":"prompt",…}';
    throw ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
  }
  const leftOut = new Set(nodes.flatMap((node) => node.left_out));
  const leftOutNow = input.compact ? chooseLeftOut(messages, leftOut, deps.tools) : [];
  if (input.compact && leftOutNow.length === 0) throw createFullFailure();
  const isStored = isWaiting(conversation) && delta.messages.length + leftOutNow.length === 0;
  const turn = nextTurn(conversation);
  return {
    turn,
    request: addOutput(
      {
        model,
        maxOutputTokens: input.max_output_tokens,
        system: asked.stage.system(agent, asked.planning),
        messages: leaveOut(messages, new Set([...leftOut, ...leftOutNow]), deps.tools),
        tools: [
          ...grantTools(deps.tools, offered),
          ...offerStateTools(deps.tools, input.state_tools ?? []),
        ].map((tool) => tool.spec),
        // Another call is likely when tools may be called, and when this is not the first.
        cachesConversation: turn > 1 || mayCallTools(input, asked, agent),
        ...(web !== undefined && { web }),
        callKey,
      },
      asked,
    ),
    asked,
    waiting: {
      ...delta,
      left_out: leftOutNow,
      ...(termsAt === null ? { terms: termsOf(input) } : { terms_at: termsAt }),
    },
    waitingRef: isStored ? input.head : null,
  };
}

/** Returns the model of a call: that of the turn, of the agent or of the worker; nested calls have one of their own. */
function chooseModel(
  deps: AgentTurnDeps,
  input: ModelTurnInput,
  agent: AgentDefinition,
  isNested: boolean,
): string {
  const named = input.model === undefined ? null : deps.resolveModel(input.model);
  const own = named ?? agent.model ?? deps.defaultModel;
  return isNested ? (deps.webModel ?? own) : own;
}

/** Returns a key that is the same for all attempts, so that the provider's logs show which calls belong together. */
export function callKeyOf(
  info: Pick<Info, 'workflowExecution' | 'workflowType' | 'activityId'>,
  input: Pick<ModelTurnInput, 'run_id' | 'delegation_id' | 'agent_id' | 'stage'>,
): string {
  const workflowId = info.workflowExecution?.workflowId ?? input.run_id;
  const place = workPlace(workflowId, info.workflowType, input.delegation_id);
  return `${place}/${input.agent_id}/${stages[input.stage].reply.shape}/${info.activityId}`;
}

/**
 * Returns the same turn with the next smaller form of its schema, which the rest of the conversation then keeps; null
 * when there is none.
 */
export function shrinkSchema(prepared: PreparedTurn): PreparedTurn | null {
  const form = shrinkForm(prepared.asked);
  if (form === null) return null;
  const { output: _output, outputForm: _form, ...request } = prepared.request;
  const asked = { ...prepared.asked, form };
  return {
    ...prepared,
    request: addOutput(request, asked),
    asked,
    waiting: { ...prepared.waiting, schema_form: form },
    // A node that is already stored does not contain the new form.
    waitingRef: null,
  };
}

/** The agent whose turn it is. */
interface Speaker {
  readonly agent: AgentDefinition;
  readonly model: string;
  /** Names of the tools that the conversation offers. */
  readonly offered: readonly string[];
  readonly asked: AskedOutput;
  readonly callKey: string;
}

/**
 * Creates the failure for a conversation that has not changed since the model said that it is too long: the model would
 * say so again.
 */
function createFullFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ModelContextExceeded',
    message:
      "The conversation does not fit the model's context, and it holds no tool result that could be left out. " +
      'Try: a smaller task, shorter inputs, or a model with a larger context.',
    nonRetryable: true,
  });
}

/**
 * Builds the node that takes what the turn appends. It takes nothing that the newest node has taken already.
 *
 * The prompt is stored before the call, so that a full disk is found before a reply is bought.
 */
async function appendTo(
  { store, tools }: Pick<AgentTurnDeps, 'store' | 'tools'>,
  conversation: Conversation,
  input: ModelTurnInput,
  { agent, model, offered, asked, callKey }: Speaker,
): Promise<TranscriptNode> {
  const append = hasTaken(conversation, input.append) ? [] : input.append;
  const reader = { agent, registry_ref: input.registry_ref, callKey, tools };
  const { content, packet } = await renderAppend(store, append, reader, asked.stage.reply.cure);
  const waitingFor = append.length === 0 ? conversation.nodes.at(-1)?.awaiting : null;
  return {
    version: 1,
    parent: input.head,
    messages: content.length > 0 ? [{ role: 'user', content }] : [],
    model,
    awaiting: waitingFor ?? hashAppend(append),
    packet_ref: packet === null ? null : await store.put(packet),
    ...(packet !== null && { tools: offered }),
    ...(packet !== null && asked.planning !== null && { planning: asked.planning }),
    left_out: [],
  };
}

function mayCallTools(
  { state_tools = [] }: ModelTurnInput,
  { stage }: AskedOutput,
  { allowed_tools }: AgentDefinition,
): boolean {
  const mayCall = stage.tools !== 'none' && stage.tools !== 'planner';
  return mayCall && allowed_tools.length + state_tools.length > 0;
}
