import { isObject, objectsOf, parseJson } from './text.ts';
import type { JsonObject } from './text.ts';

/** A content block: `{"type":"text","text":"…"}`, `{"type":"tool_use",…}` or any other type. */
export type Block = JsonObject & { readonly type: string };

interface InputMessage {
  readonly role: string;
  readonly blocks: readonly Block[];
}

/** The parts of a `POST /v1/messages` body that the rehearsal model reads. */
export interface MessagesRequest {
  readonly model: string;
  /** Tokens. */
  readonly maxTokens: number;
  readonly system: readonly Block[];
  readonly messages: readonly InputMessage[];
  readonly tools: readonly JsonObject[];
  readonly toolChoice: JsonObject | null;
  /** `output_config.format.schema`, or null when free text is requested. */
  readonly schema: JsonObject | null;
  readonly stream: boolean;
  /** `metadata.user_id`; the empty string when absent. */
  readonly callKey: string;
  /** The whole body, unchanged. */
  readonly body: JsonObject;
}

/** Token counts of a reply. */
export interface ReplyUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  readonly output_tokens: number;
  /** Uses of the provider's own tools. Absent: none. */
  readonly server_tool_use?: {
    readonly web_search_requests: number;
    readonly web_fetch_requests: number;
  };
}

/** A whole reply of `POST /v1/messages` without streaming. */
export interface ReplyMessage {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly Block[];
  readonly container: null;
  readonly diagnostics: null;
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: unknown;
  /** Undefined only when a script leaves it out. */
  readonly usage?: Partial<ReplyUsage>;
}

/** Most cache breakpoints of one request. */
const breakpointsMax = 4;

/** Converts a `content` or `system` field to a list of blocks: a plain string is one text block. */
function blocksOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return objectsOf(content).filter((block): block is Block => typeof block['type'] === 'string');
}

function schemaOf(body: JsonObject): JsonObject | null {
  const config = body['output_config'];
  const format = isObject(config) ? config['format'] : undefined;
  const schema = isObject(format) ? format['schema'] : undefined;
  return isObject(schema) ? schema : null;
}

/** Returns the fault of a body in the API's words, or null. */
function findFault(body: JsonObject, counting: boolean): string | null {
  if (typeof body['model'] !== 'string') return 'model: Field required';
  if (!Array.isArray(body['messages'])) return 'messages: Field required';
  if (body['messages'].length === 0) return 'messages: at least one message is required';
  const maxTokens = body['max_tokens'];
  if (!counting && typeof maxTokens !== 'number') return 'max_tokens: Field required';
  if (typeof maxTokens === 'number' && maxTokens < 1) {
    return 'max_tokens: Input should be greater than or equal to 1';
  }
  const breakpoints = countBreakpoints(body);
  if (breakpoints > breakpointsMax) {
    return `A maximum of ${breakpointsMax} blocks with cache_control may be provided. Found ${breakpoints}.`;
  }
  return null;
}

function countBreakpoints(body: JsonObject): number {
  return [
    ...objectsOf(body['tools']),
    ...blocksOf(body['system']),
    ...objectsOf(body['messages']).flatMap((message) => blocksOf(message['content'])),
  ].filter((block) => isObject(block['cache_control'])).length;
}

/**
 * Reads a request body.
 *
 * @param counting True for `count_tokens`, which needs no `max_tokens`.
 * @returns the request, or its fault as one sentence.
 */
export function readMessagesRequest(text: string, counting: boolean): MessagesRequest | string {
  const body = parseJson(text);
  if (!isObject(body)) return 'The request body is not valid JSON.';
  const fault = findFault(body, counting);
  if (fault !== null) return fault;
  const metadata = body['metadata'];
  const callKey = isObject(metadata) ? metadata['user_id'] : undefined;
  return {
    model: String(body['model']),
    maxTokens: Number(body['max_tokens'] ?? 0),
    system: blocksOf(body['system']),
    messages: objectsOf(body['messages']).map((message) => ({
      role: String(message['role']),
      blocks: blocksOf(message['content']),
    })),
    tools: objectsOf(body['tools']),
    toolChoice: isObject(body['tool_choice']) ? body['tool_choice'] : null,
    schema: schemaOf(body),
    stream: body['stream'] === true,
    callKey: typeof callKey === 'string' ? callKey : '',
    body,
  };
}
