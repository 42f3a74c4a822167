import { Anthropic } from '@anthropic-ai/sdk';
import {
  detailsWithoutRequest,
  ModelAborted,
  ModelFailure,
  type ModelCallOptions,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
} from '../../ports/model-client.ts';
import { buildParams, computeWorst } from './build-params.ts';
import {
  createCallWatch,
  type CallLimits,
  type CallWatch,
  createStreamGuard,
  type ResponseFacts,
} from './stream-guard.ts';
import {
  classifyError,
  createLimitFailure,
  createProtocolFailure,
  type ErrorContext,
} from './classify-error.ts';
import { fetchOverHttp } from './http-fetch.ts';
import { RequestRefused, createQuoteRemover } from './json-schemas.ts';
import { readMessage, createStreamProgress } from './read-message.ts';

export interface AnthropicClientOptions {
  readonly apiKey: string;
  /** Any server that speaks the Messages API. If undefined, Anthropic's own. */
  readonly baseUrl?: string | undefined;
  /**
   * Longest silence of a call, in milliseconds, the time before the response headers included. Default 90,000. Above
   * 300,000 Node's own limit comes first.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Longest call, in milliseconds, however lively it is. Default 900,000. */
  readonly totalTimeoutMs?: number | undefined;
  /** Takes secrets out of what the API says of an error, before it is cut to size. If undefined, only the key is. */
  readonly redact?: (text: string) => string;
}

/**
 * The model port on the Anthropic SDK. One per worker process.
 *
 * MC1. One call of `complete` is at most one HTTP request: retries belong to Temporal, which can be seen and survives.
 * MC2. A call ends by its reply, by an error, by the caller's signal or by a limit of its own, whatever the SDK does.
 * MC3. A reply is returned only if the stream ended with a whole message.
 * MC4. Nothing is read from environment or profile files, and nothing is logged: the SDK's debug log holds whole prompts.
 *
 * @throws {TypeError} when the key or the URL can't be right; the text does not show them.
 */
export function createAnthropicClient(options: AnthropicClientOptions): ModelClient {
  const limits: CallLimits = {
    idleTimeoutMs: options.idleTimeoutMs ?? 90_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 900_000,
  };
  checkApiKey(options.apiKey);
  checkBaseUrl(options.baseUrl);
  const sdk = new Anthropic({
    apiKey: options.apiKey,
    // Undefined would mean "look into the environment".
    baseURL: options.baseUrl ?? null,
    fetch: fetchOverHttp,
    maxRetries: 0,
    // Covers the time to the headers only; our own watch covers the whole call.
    timeout: limits.totalTimeoutMs,
    logLevel: 'off',
    openTelemetry: false,
  });
  const origin = new URL(sdk.baseURL).origin;
  return { complete: (request, call) => complete({ sdk, origin, limits, options }, request, call) };
}

interface Connection {
  readonly sdk: Anthropic;
  readonly origin: string;
  readonly limits: CallLimits;
  readonly options: AnthropicClientOptions;
}

async function complete(
  connection: Connection,
  request: ModelRequest,
  call: ModelCallOptions,
): Promise<ModelReply> {
  const params = buildParamsOrFail(request);
  const progress = createStreamProgress();
  const watch = createCallWatch(call.signal, connection.limits);
  let response: ResponseFacts | null = null;
  const context = (): ErrorContext => ({
    model: progress.model() ?? request.model,
    requestedModel: request.model,
    origin: connection.origin,
    response,
    tokens: progress.tokens(),
    worst: () => computeWorst(request),
    nowMs: Date.now(),
    random: Math.random(),
    clean: createQuoteRemover(connection.options, request),
  });
  try {
    if (watch.cause() !== null) throw new ModelAborted(request.model, null);
    const guard = createStreamGuard({
      onResponse: (facts) => {
        response = facts;
        watch.touch();
      },
      onBytes: () => watch.touch(),
      onTooLarge: () => watch.endBySize(),
    });
    const stream = connection.sdk.messages.stream(params, {
      signal: watch.signal,
      middleware: [guard],
    });
    stream.on('streamEvent', (event, snapshot) => {
      progress.add(event, snapshot);
      report(call, progress.progress());
    });
    const message: unknown = await Promise.race([stream.finalMessage(), watch.ended]);
    const reply = readMessage(message, context().response?.requestId ?? null);
    if (reply === null) throw createProtocolFailure(context());
    return reply;
  } catch (error) {
    throw toPortError(error, watch, connection.limits, context());
  } finally {
    watch.close();
  }
}

function toPortError(
  error: unknown,
  watch: CallWatch,
  limits: CallLimits,
  context: ErrorContext,
): ModelAborted | ModelFailure {
  if (error instanceof ModelAborted || error instanceof ModelFailure) return error;
  const cause = watch.cause();
  if (cause === null) return classifyError(error, context);
  if (cause === 'caller') return new ModelAborted(context.model, context.tokens);
  return createLimitFailure(cause, limits, context);
}

function buildParamsOrFail(request: ModelRequest): Anthropic.MessageStreamParams {
  try {
    return buildParams(request);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    throw new ModelFailure(error.message, {
      type: 'ModelRequest',
      retryable: false,
      details: detailsWithoutRequest(request.model),
    });
  }
}

function report(call: ModelCallOptions, progress: Parameters<ModelCallOptions['onProgress']>[0]) {
  try {
    call.onProgress(progress);
  } catch {
    // A display must not cost a reply that is paid for.
  }
}

function checkApiKey(apiKey: string): void {
  // The HTTP client would quote the whole key in its error text.
  if (!/^[\u0021-\u007e]+$/.test(apiKey)) {
    throw new TypeError(
      'The API key is empty or holds characters that no key has, such as spaces or line breaks. Try: copy it again.',
    );
  }
}

function checkBaseUrl(baseUrl: string | undefined): void {
  if (baseUrl === undefined) return;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new TypeError(
      'The base URL of the model API must be an http or https address without user name and password. Try: "http://localhost:8080".',
    );
  }
}
