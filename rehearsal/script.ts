import { type Block, type ReplyUsage, isObject, type JsonObject } from './messages-api.ts';

/** planwave's own output shapes: a wave plan, an agent's output, a wave decision, a review of questions. */
export type Shape = 'plan' | 'delegation' | 'decision' | 'review' | 'verification' | 'grading';

/** Delegation and agent of a call. */
export interface TaskPlace {
  /** A leader's task has the id `<delegation_id of the team>.<name>`. */
  readonly delegation_id: string;
  readonly agent_id: string;
  /** True when it may create tasks itself. */
  readonly leads: boolean;
}

/** Turn and member of a triad that a call belongs to. */
export interface TurnPlace {
  readonly member: string;
  readonly role: string;
  readonly phase: string;
  /** Number of the round in the phase, from 1. */
  readonly round: number;
}

/** Selects calls for a rule. Every given condition must hold; an empty match fits every call. */
export interface RuleMatch {
  /** Part of `metadata.user_id`. */
  readonly callKeyIncludes?: string;
  /** Part of the request body's JSON text. */
  readonly bodyIncludes?: string;
  readonly schema?: Shape;
  /** Name of the triad's member whose turn it is. */
  readonly member?: string;
  readonly phase?: string;
  /** Round of that turn, from 1. */
  readonly round?: number;
  /** The delegation_id of the packet; for a leader's task `<delegation_id of the team>.<name>`. */
  readonly delegation?: string;
  readonly agent?: string;
  /** True for calls of a team's leader. */
  readonly leads?: boolean;
  /** Only the nth call, from 1, among those that fit the other conditions. */
  readonly nth?: number;
}

interface Delays {
  /** Milliseconds before the response headers. Default 0. */
  readonly delayMs?: number;
  /** Milliseconds over which the text is streamed, or before a reply that is not streamed. Default: the server's. */
  readonly thinkMs?: number;
}

interface Envelope extends Delays {
  /** Default `end_turn`, or `tool_use` when a tool is used. Any string is sent unchanged. */
  readonly stop_reason?: string;
  readonly stop_sequence?: string;
  readonly stop_details?: unknown;
  /** The model in the reply. Default: the request's. */
  readonly model?: string;
  /** Fields that replace the counted ones; null leaves `usage` out (in a stream: empty objects, see `buildEvents`). */
  readonly usage?: Partial<ReplyUsage> | null;
}

export interface ScriptedToolCall {
  readonly name: string;
  readonly input: unknown;
}

interface ContentFields extends Envelope {
  /** The empty string makes a reply without content. */
  readonly text?: string;
  /** Sent as its JSON text. */
  readonly json?: unknown;
  readonly tool_use?: readonly ScriptedToolCall[];
  /** Blocks that are sent unchanged, before the others: `thinking`, several texts, unknown types. */
  readonly content?: readonly Block[];
}

/** A reply of the model: at least one of `text`, `json`, `tool_use`, `content`. */
export type ContentReply = ContentFields &
  (
    | { readonly text: string }
    | { readonly json: unknown }
    | { readonly tool_use: readonly ScriptedToolCall[] }
    | { readonly content: readonly Block[] }
  );

/** An HTTP error in the API's shape, or with a body of its own. */
export interface ErrorReply extends Delays {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `error.type`. Default: what the API sends with this status. */
  readonly errorType?: string;
  /** `error.details.error_code`. */
  readonly errorCode?: string;
  readonly message?: string;
  /** Replaces the whole body: a string unchanged, any other value as JSON. */
  readonly body?: unknown;
  /** Default `application/json`, or `text/html` when `body` begins with `<`. */
  readonly contentType?: string;
}

interface StreamPosition {
  /** Number of stream events that are sent before it. Default: half of them. */
  readonly afterEvents?: number;
}

/** Ends the connection early. Content fields name the cut reply; without them it is the default reply. */
export interface CutReply extends ContentFields, StreamPosition {
  /** The first three destroy the socket, `eof-without-stop` ends the response as if it were complete. */
  readonly cut: 'before-headers' | 'after-headers' | 'mid-stream' | 'eof-without-stop';
}

/** Falls silent until the client disconnects. */
export interface StallReply extends ContentFields, StreamPosition {
  readonly stall: 'before-headers' | 'after-headers' | 'in-stream';
}

/** Sends an `error` event in mid-stream. Without streaming it is an HTTP error of that type. */
export interface SseErrorReply extends ContentFields, StreamPosition {
  readonly sseError: { readonly type: string; readonly message: string };
}

/** A body that is sent unchanged: HTML, nothing, error JSON, broken events. */
export interface RawReply extends Delays {
  readonly raw: string;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: derived from the text (`{`, `event:`, otherwise HTML). */
  readonly contentType?: string;
}

/** The default reply, with these delays and this envelope. */
interface PassReply extends Envelope {
  readonly pass: true;
}

export type Reply =
  | ContentReply
  | ErrorReply
  | CutReply
  | StallReply
  | SseErrorReply
  | RawReply
  | PassReply;

/** Work that a call belongs to. */
export interface CallPlace {
  readonly shape: Shape | null;
  /** Null when the call is no turn of a triad's member. */
  readonly turn: TurnPlace | null;
  /** Null when the call belongs to no delegation. */
  readonly task: TaskPlace | null;
}

/** A call in a reply function. */
export interface ScriptedRequest extends CallPlace {
  /** Number of the call, from 1. */
  readonly index: number;
  readonly callKey: string;
  readonly body: JsonObject;
  /** Returns the answer of the default rules: the parsed JSON when a schema was requested, otherwise the text. */
  readonly defaultOutput: () => unknown;
}

/** Decides the reply from the request. Only in-process. */
export type ReplyFunction = (request: ScriptedRequest) => Reply | Promise<Reply>;

export interface ScriptRule {
  readonly match?: RuleMatch;
  /** Most uses of the rule. Default: unlimited. */
  readonly times?: number;
  readonly reply: Reply | ReplyFunction;
}

/** End of a call: the reply was sent, the client disconnected first, or the server cut it. */
export type CallOutcome = 'answered' | 'client-closed' | 'cut';

export interface RecordedCall extends CallPlace {
  /** Number of the call, from 1, in the order of arrival. */
  readonly index: number;
  /** `metadata.user_id`; the empty string when absent. */
  readonly callKey: string;
  /** The parsed body, or its text when it was no JSON. */
  readonly body: unknown;
  /** Lower-case names; keys and cookies are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Position of the script rule that answered, from 0; null for a default reply. */
  readonly rule: number | null;
  /** Unix epoch milliseconds. */
  readonly startedAtMs: number;
  /** Null while the call is in flight, as are the two below. */
  readonly endedAtMs: number | null;
  readonly outcome: CallOutcome | null;
  /** Null also when no headers were sent. */
  readonly replyStatus: number | null;
}

export interface CallCounts {
  readonly calls: number;
  readonly ended: number;
  readonly inFlight: number;
  readonly maxInFlight: number;
}

const ruleFields = new Set(['match', 'times', 'reply']);
const matchFields: Readonly<Record<string, string>> = {
  callKeyIncludes: 'string',
  bodyIncludes: 'string',
  schema: 'string',
  member: 'string',
  phase: 'string',
  round: 'number',
  delegation: 'string',
  agent: 'string',
  leads: 'boolean',
  nth: 'number',
};
/** A reply needs at least one of these. */
const replyKinds = [
  'text',
  'json',
  'tool_use',
  'content',
  'status',
  'cut',
  'stall',
  'sseError',
  'raw',
  'pass',
];
const choices: Readonly<Record<string, readonly string[]>> = {
  cut: ['before-headers', 'after-headers', 'mid-stream', 'eof-without-stop'],
  stall: ['before-headers', 'after-headers', 'in-stream'],
};

function findMatchFault(match: unknown): string | null {
  if (match === undefined) return null;
  if (!isObject(match)) return 'match is no object';
  for (const [name, value] of Object.entries(match)) {
    const type = matchFields[name];
    if (type === undefined) {
      return `match.${name} is not known. Known: ${Object.keys(matchFields).join(', ')}`;
    }
    if (typeof value !== type) return `match.${name} must be a ${type}`;
  }
  return null;
}

function findReplyFault(reply: unknown): string | null {
  if (!isObject(reply)) return 'reply is no object';
  if (!replyKinds.some((kind) => kind in reply)) {
    return `reply needs one of: ${replyKinds.join(', ')}`;
  }
  for (const [name, allowed] of Object.entries(choices)) {
    const value = reply[name];
    if (value !== undefined && !(typeof value === 'string' && allowed.includes(value))) {
      return `reply.${name} must be one of: ${allowed.join(', ')}`;
    }
  }
  return null;
}

function findRuleFault(rule: unknown): string | null {
  if (!isObject(rule)) return 'is no object';
  const unknown = Object.keys(rule).find((name) => !ruleFields.has(name));
  if (unknown !== undefined) return `${unknown} is not known. Known: ${[...ruleFields].join(', ')}`;
  if (rule['times'] !== undefined && typeof rule['times'] !== 'number')
    return 'times must be a number';
  return findMatchFault(rule['match']) ?? findReplyFault(rule['reply']);
}

/**
 * Reads a script that came over HTTP: a list of rules, or `{"rules": […]}`.
 *
 * @returns the rules, or what is wrong with the first bad one as one sentence.
 */
export function readScript(body: unknown): readonly ScriptRule[] | string {
  const rules: unknown = isObject(body) ? body['rules'] : body;
  if (!Array.isArray(rules)) {
    return 'Expected a list of rules. Try: [{"times": 1, "reply": {"status": 529}}]';
  }
  for (const [position, rule] of rules.entries()) {
    const fault = findRuleFault(rule);
    if (fault !== null) return `rules[${position}]: ${fault}.`;
  }
  return rules as readonly ScriptRule[];
}
