import { z } from 'zod';
import { type Info, ApplicationFailure } from '@temporalio/activity';
import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import { schemaForms, type SchemaForm, type TranscriptNode } from '../../contracts/transcript.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Ref } from '../../contracts/ref.ts';
import { workPlace } from '../../core/ids.ts';
import { termsOf } from '../../core/turns/turn-call.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ModelRequest } from '../ports/model-client.ts';
import type { SchemaTerms, Stage } from '../stages/stage.ts';
import { stageOf, stages } from '../stages/stages.ts';
import { jsonBlock } from '../text/blocks.ts';
import { readAgent } from '../artifacts/read-artifact.ts';
import { grantTools, offerStateTools } from '../tools/tool.ts';
import {
  chooseLeftOut,
  leaveOut,
  hasTaken,
  hashAppend,
  isWaiting,
  joinMessages,
  loadConversation,
  nextTurn,
  type Conversation,
} from './conversation.ts';
import type { AgentTurnDeps } from './deps.ts';
import { offerTools } from './offer-tools.ts';
import { renderAppend } from './render-append.ts';

/** Final text that a conversation asks for, with the form of its schema. */
interface AskedOutput extends SchemaTerms {
  readonly stage: Stage;
}

/**
 * Reads what a conversation asks for: the terms set by the prompt that began it, and the form that the provider
 * accepted last, so that no refused form is tried again.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
async function readAsked(
  store: ArtifactStore,
  { stage: name, append, passable }: Pick<ModelTurnInput, 'stage' | 'append' | 'passable'>,
  nodes: readonly TranscriptNode[],
): Promise<AskedOutput> {
  const stage = stages[name];
  const form = nodes.findLast((node) => node.schema_form !== undefined)?.schema_form ?? 'whole';
  const settled = nodes.find((node) => node.planning !== undefined)?.planning;
  const begins = append.find((one) => one.type === 'prompt')?.prompt;
  const read = settled ?? (begins && (await stageOf(begins).readTerms?.(store, begins)));
  return { stage, planning: read ?? null, form, passes: passable !== undefined };
}

/** Adds the requested output to a request. Nothing is added for free text. */
function addOutput(
  request: Omit<ModelRequest, 'output' | 'outputForm'>,
  asked: AskedOutput,
): ModelRequest {
  const { form, stage } = asked;
  const output = stage.reply.schemaFor(asked);
  if (output === null) return request;
  if (form === 'bare') return { ...request, output, outputForm: 'bare' };
  if (form !== 'in_prompt') return { ...request, output };
  const described = { text: describeSchema(output), cacheBreakpoint: false };
  const system = [...request.system, described];
  return { ...request, system, output, outputForm: 'unasked' };
}

/**
 * Returns the next smaller form of a schema that the provider refused, or null when there is none.
 *
 * SCF1. Each form asks for less than the one before; the last one describes the schema only in words.
 * SCF2. A form that would send the same bytes as the one before is left out.
 */
function shrinkForm(asked: AskedOutput): SchemaForm | null {
  const schemaIn = (form: SchemaForm): z.ZodType | null =>
    asked.stage.reply.schemaFor({ ...asked, form });
  if (schemaIn(asked.form) === null) return null;
  const next = schemaForms[schemaForms.indexOf(asked.form) + 1];
  const isSame = next === 'single_agents' && schemaIn(next) === schemaIn(asked.form);
  return isSame ? 'bare' : (next ?? null);
}

/**
 * Describes the shape of a final answer as text, for a provider that accepts no schema. The text ends the system
 * prompt, where it is the same in all later calls of the conversation.
 */
function describeSchema(schema: z.ZodType): string {
  const { $schema: _dialect, ...shape } = z.toJSONSchema(schema);
  return `# The shape of your final answer
Your final answer is one JSON object that this JSON Schema allows, and nothing before or after it: no prose and no code fence. Every required property is there, and no property that is not listed.
${jsonBlock('output_schema', shape)}`;
}

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
  // The input of a run may name the model of all agents, by a short name too.
  const [named, ofAgent] = [input.model, agent.model].map((name) =>
    name ? deps.resolveModel(name) : null,
  );
  const own = named ?? ofAgent ?? deps.defaultModel;
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
  const rendered = await renderAppend(store, append, reader, asked.stage.reply.cure);
  const { content, packet, addresses } = rendered;
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
    ...(addresses.length > 0 && { addresses }),
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
