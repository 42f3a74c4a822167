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

/** A JSON object whose fields were not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in `value`, or an empty list when it is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings in `value`, or an empty list when it is no list. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A string as it is, `undefined` and `null` as the empty string, anything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** The parsed JSON, or `undefined` when `text` is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `text` without a high surrogate that lost its other half to a cut at the end. */
export function dropHalfPair(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/u, '');
}

/** One line of at most `lengthMax` UTF-16 units; a cut is marked with `…` and never splits a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length <= lengthMax ? line : `${dropHalfPair(line.slice(0, lengthMax - 1))}…`;
}

/** `text` in quotation marks, cut to `lengthMax` UTF-16 units without them. Default 80. */
export function quote(text: string, lengthMax = 80): string {
  return `“${cutText(text, lengthMax)}”`;
}

/** A name for ids: lower-case letters, digits, `-` and `_`, at most `lengthMax` characters, never empty. */
export function slugOf(text: string, lengthMax: number): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/gu, '-')
    .replace(/^[-_]+/u, '')
    .slice(0, lengthMax)
    .replace(/(?<!-)-+$/u, '');
  return slug === '' ? 'rehearsal' : slug;
}
