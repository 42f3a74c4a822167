import type { z } from 'zod';
import type { FailureType, ModelFailureDetails } from '../../contracts/errors.ts';
import type { PayingCall } from '../../core/budget/tenant-day.ts';
import type { ContentBlock, Message } from '../../contracts/transcript.ts';

export interface ToolSpec {
  readonly name: string;
  /** Text for a model: when to use it, its limits, one example. */
  readonly description: string;
  readonly input: z.ZodType;
  /** JSON schema that models are sent instead of that of `input`. If undefined, that of `input`. */
  readonly json_schema?: Readonly<Record<string, unknown>>;
}

export interface SystemBlock {
  readonly text: string;
  /** Marks the end of a prefix that is equal for many calls, so that the provider may cache it. */
  readonly cacheBreakpoint: boolean;
}

/** Limits of the provider's own search and fetch in one request. */
export interface WebLimits {
  readonly searchesMax: number;
  readonly fetchesMax: number;
  /** Tokens of one fetched page. */
  readonly pageTokensMax: number;
}

export interface ModelRequest {
  readonly model: string;
  readonly maxOutputTokens: number;
  readonly system: readonly SystemBlock[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /**
   * Marks the end of the conversation for the cache too. Writing it costs a quarter more than plain input, so it pays
   * only when another call of this conversation is likely. Default false.
   */
  readonly cachesConversation?: boolean;
  /** Shape of the final text, which is JSON. If undefined, the text is free. */
  readonly output?: z.ZodType;
  /**
   * Part of `output` that the provider gets after it refused more: `bare` is the schema without descriptions, `unasked`
   * nothing. If undefined, all of it.
   */
  readonly outputForm?: 'bare' | 'unasked';
  /** The provider's own search and fetch of the web. If undefined, none; never beside other tools or an output. */
  readonly web?: WebLimits;
  /** Names the call in the provider's logs (`metadata.user_id`); holds no personal data. */
  readonly callKey: string;
}

/** The provider's token counts; `null` when the reply carried no usage. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly outputTokens: number;
  /** Searches of the web, which are billed one by one. Absent: none. */
  readonly webSearches?: number;
}

export interface ModelReply {
  readonly content: readonly ContentBlock[];
  /** The provider's value: `end_turn`, `tool_use`, `max_tokens`, `refusal`, `pause_turn`, … or an unknown one. */
  readonly stopReason: string;
  /** The provider's explanation of a refusal. Absent when there was no refusal, or no explanation. */
  readonly refusal?: string;
  readonly tokens: TokenCount | null;
  readonly requestId: string | null;
  /** The provider's name of the model that answered. */
  readonly model: string;
}

export interface ModelProgress {
  /** Counted by the provider at the end of the stream; until then estimated from the text. */
  readonly outputTokens: number;
  /** The unredacted last words of the stream, at most 8,000 characters: shown only through `redactModel`. */
  readonly lastWords: string;
  /** The unredacted piece of this event, for `redactModel`, which does not pass it on. If undefined, none. */
  readonly arrived?: ArrivedPiece;
  /** The readable part of the reply so far. Absent while there is none, and without `redactModel`. */
  readonly readable?: ReadableTail;
}

/** A piece of a reply, in the order of the stream. */
export interface ArrivedPiece {
  /** Index of its block in the reply. */
  readonly block: number;
  /** Text, or a call's arguments as JSON. */
  readonly kind: 'text' | 'arguments';
  readonly text: string;
}

/** The end of a growing text, without secrets. */
export interface ReadableTail {
  /** At most 4,000 characters. */
  readonly text: string;
  /** Characters of the whole text so far. The text only grows. */
  readonly chars: number;
}

/** The tenant that pays for a call, with the attempt and its worst case. */
export interface Payer extends PayingCall {
  readonly tenant: string;
}

export interface ModelCallOptions {
  /** Cancels the call and closes its socket. */
  readonly signal: AbortSignal;
  /** Called at every event of the stream. Its errors are ignored: a display must not cost a paid reply. */
  readonly onProgress: (progress: ModelProgress) => void;
  /** Tenant whose budget pays for the call. If undefined, none has a budget for it. */
  readonly payer?: Payer | undefined;
}

/**
 * Interface of a model provider.
 *
 * @throws {ModelFailure} when the provider failed; says whether a retry makes sense.
 * @throws {ModelAborted} when `signal` was aborted; carries the usage until then.
 */
export interface ModelClient {
  complete(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
}

/**
 * The model's provider failed. The message says what happened and what to try; neither it nor `details` holds the key
 * or a quotation from the prompt. There is no `cause`, because Temporal would write its text into the history.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly type: FailureType;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds that the provider asked to wait. If undefined, the retry policy's back-off applies. */
  readonly retryAfterMs: number | undefined;
  /**
   * True when the provider can't use the schema of the output: it may accept a smaller one. Such a request is not
   * billed.
   */
  readonly refusesSchema: boolean;
  readonly details: ModelFailureDetails;

  constructor(
    message: string,
    init: {
      type: FailureType;
      retryable: boolean;
      retryAfterMs?: number | undefined;
      /** Default false. */
      refusesSchema?: boolean;
      details: ModelFailureDetails;
    },
  ) {
    super(message);
    this.type = init.type;
    this.retryable = init.retryable;
    this.retryAfterMs = init.retryAfterMs;
    this.refusesSchema = init.refusesSchema ?? false;
    this.details = init.details;
  }
}

/** Returns the details of a call that was not made. */
export function detailsWithoutRequest(model: string): ModelFailureDetails {
  return { status: null, type: null, error_code: null, request_id: null, model, usage: null };
}

export class ModelAborted extends Error {
  override readonly name = 'ModelAborted';
  /** Counts until then, the output estimated from what had arrived; null when the reply had not begun. */
  readonly tokens: TokenCount | null;
  readonly model: string;
  /** The last words that arrived, at most 8,000 characters; empty when there were none, and without `redactModel`. */
  readonly lastWords: string;

  constructor(model: string, tokens: TokenCount | null, lastWords = '') {
    super('The model call was cancelled.');
    this.model = model;
    this.tokens = tokens;
    this.lastWords = lastWords;
  }
}
