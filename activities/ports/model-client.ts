import type { z } from 'zod';
import type { FailureType, ModelFailureDetails } from '../../contracts/errors.ts';
import type { ContentBlock, Message } from '../../contracts/transcript.ts';

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string;
  /** Written for a model: when to use it, its limits, one example. */
  readonly description: string;
  readonly input: z.ZodType;
}

export interface SystemBlock {
  readonly text: string;
  /** Marks the end of a prefix that is the same for many calls, so that the provider may cache it. */
  readonly cacheBreakpoint: boolean;
}

export interface ModelRequest {
  readonly model: string;
  readonly maxOutputTokens: number;
  readonly system: readonly SystemBlock[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /**
   * Whether the end of the conversation is marked for the cache as well. What is written there costs a quarter more than
   * plain input, so it pays only where another call of this conversation is likely. If undefined, it is not.
   */
  readonly cachesConversation?: boolean;
  /** Shape of the final text, which is JSON. If undefined, the text is free. */
  readonly output?: z.ZodType;
  /**
   * How much of `output` the provider is told, because it refused more: `bare` is the schema without descriptions, `unasked`
   * nothing. If undefined, all of it.
   */
  readonly outputForm?: 'bare' | 'unasked';
  /** Names the call in the provider's logs (`metadata.user_id`); holds no personal data. */
  readonly callKey: string;
}

/** Tokens as the provider counted them; `null` when the reply carried no usage. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly outputTokens: number;
}

export interface ModelReply {
  readonly content: readonly ContentBlock[];
  /** As the provider sent it: `end_turn`, `tool_use`, `max_tokens`, `refusal`, `pause_turn`, … or one not known yet. */
  readonly stopReason: string;
  /** Why the provider says that the model refused. Absent when it did not refuse, and when nothing was said. */
  readonly refusal?: string;
  readonly tokens: TokenCount | null;
  readonly requestId: string | null;
  /** The model that answered, as the provider names it. */
  readonly model: string;
}

export interface ModelProgress {
  /** Counted by the provider at the end of the stream; until then estimated from the text. */
  readonly outputTokens: number;
  /** The last words of the stream, at most 8,000 characters, as they came: to be shown only through `redactModel`. */
  readonly lastWords: string;
  /** What the event brought, as it came: for `redactModel`, which passes none on. If undefined, nothing. */
  readonly arrived?: ArrivedPiece;
  /** What people can read of the reply so far. Absent while there is nothing, and without `redactModel`. */
  readonly readable?: ReadableTail;
}

/** A piece of a reply, in the order of the stream. */
export interface ArrivedPiece {
  /** Which of the reply's blocks it belongs to. */
  readonly block: number;
  /** Of a text, or of a call's arguments as JSON. */
  readonly kind: 'text' | 'arguments';
  readonly text: string;
}

/** The end of a text that goes on, without secrets. */
export interface ReadableTail {
  /** At most 4,000 characters. */
  readonly text: string;
  /** Of the whole text until now. It never changes but by growing. */
  readonly chars: number;
}

export interface ModelCallOptions {
  /** Cancels the call and closes its socket. */
  readonly signal: AbortSignal;
  /** Called at every event of the stream. What it throws is ignored: a display must not cost a paid reply. */
  readonly onProgress: (progress: ModelProgress) => void;
}

/**
 * The one thing planwave needs from a model provider.
 *
 * @throws {ModelFailure} when the provider failed; says whether a retry makes sense.
 * @throws {ModelAborted} when `signal` was aborted; carries what was used until then.
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
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asked to wait, in milliseconds. If undefined, the back-off of the retry policy holds. */
  readonly retryAfterMs: number | undefined;
  /** The provider can't work with the schema of the output: a smaller one may be taken. Such a request is not billed. */
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

export class ModelAborted extends Error {
  override readonly name = 'ModelAborted';
  /** What the provider had counted until then, or null when the reply had not begun. */
  readonly tokens: TokenCount | null;
  readonly model: string;
  /** The last of what had arrived, at most 8,000 characters; empty when nothing had, and without `redactModel`. */
  readonly lastWords: string;

  constructor(model: string, tokens: TokenCount | null, lastWords = '') {
    super('The model call was cancelled.');
    this.model = model;
    this.tokens = tokens;
    this.lastWords = lastWords;
  }
}
