import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import type { Usage } from '../../../contracts/usage.ts';
import { ModelFailure, type TokenCount } from '../../ports/model-client.ts';
import { computeUsage } from '../prices.ts';
import type { CallLimits, ResponseFacts } from './stream-guard.ts';
import * as verdicts from './verdicts.ts';

/** Longest wait in milliseconds that the API can impose. A longer one needs a person anyway. */
export const retryAfterMaxMs = 900_000;

export interface ErrorContext {
  /** Name of the model that answered; of the requested one before the reply has begun. */
  readonly model: string;
  readonly requestedModel: string;
  /** Scheme, host and port of the API; holds no credentials. */
  readonly origin: string;
  /** The response, or null when none arrived. */
  readonly response: ResponseFacts | null;
  /** Counts at the time of the failure, or null when the reply had not begun. */
  readonly tokens: TokenCount | null;
  /** Computes what the request may have used at worst. */
  readonly worst: () => Usage;
  /** The present time in Unix epoch milliseconds, for a `retry-after` that is a date. */
  readonly nowMs: number;
  /** Random number in [0, 1), which spreads the retries of calls that were refused together. */
  readonly random: number;
  /** Removes parts of an API text that must not reach logs, history and people. */
  readonly clean: (text: string) => string;
}

/**
 * Classifies an error that the SDK threw (pure).
 *
 * CE1. An account's own limit is recognised by its error code before the status is read: it shares 429 with rate
 *      limits.
 * CE2. A status in the table decides alone; for any other, `x-should-retry` decides, otherwise 4xx means no and 5xx
 *      yes.
 * CE3. An error with a type but without a status arrived mid-stream and is judged by its type.
 * CE4. A wait is at least as long as the API asked for, plus jitter, and at most 15 minutes.
 * CE5. Texts of the API are shown only through `clean`; bodies that are no JSON error are not shown.
 */
export function classifyError(error: unknown, context: ErrorContext): ModelFailure {
  const verdict = judge(error, context);
  const facts = readFacts(error, context);
  const said = error instanceof APIError ? asText(error.apiMessage) : null;
  const reach = verdict.type === 'ModelUnavailable' && facts.status === null;
  const message = [
    `${verdict.what} (${describeFacts(error, facts, reach ? context.origin : null)}).`,
    ...(said === null ? [] : [`It says: "${context.clean(said)}".`]),
    verdict.cure,
  ].join(' ');
  const usage = computeFailedUsage(error, context);
  return new ModelFailure(message, {
    type: verdict.type,
    retryable: verdict.retryable,
    // A billed call is a reply that broke off, and has to be counted.
    refusesSchema: verdict.refusesSchema === true && usage === null,
    retryAfterMs: verdict.retryable ? readRetryAfterMs(error, context) : undefined,
    details: { ...facts, model: context.model, usage },
  });
}

/** Creates the failure of a call that one of our own limits ended. */
export function createLimitFailure(
  limit: 'idle' | 'total' | 'size',
  { idleTimeoutMs, totalTimeoutMs }: CallLimits,
  context: ErrorContext,
): ModelFailure {
  const message = {
    idle: `The model API sent nothing for ${idleTimeoutMs / 1_000} s (idle limit). It is tried again by itself.`,
    total: `The model call took longer than ${totalTimeoutMs / 1_000} s (total limit). It is tried again by itself. Try: a smaller task or a lower output limit, if it happens again.`,
    size: `The model API sent more than any reply can hold: over 64 MB, or a line of over 8 MB. ${verdicts.noMessage.cure}`,
  }[limit];
  return new ModelFailure(message, {
    type: limit === 'size' ? 'ModelProtocol' : 'ModelUnavailable',
    // A stream without end would be bought again with every attempt.
    retryable: limit !== 'size',
    details: {
      ...readFacts(undefined, context),
      model: context.model,
      usage: computeFailedUsage(undefined, context),
    },
  });
}

/** Creates the failure of a call whose reply is no message although the SDK returned it as one. */
export function createProtocolFailure(context: ErrorContext): ModelFailure {
  return classifyError(undefined, context);
}

function judge(error: unknown, context: ErrorContext): verdicts.Verdict {
  if (error === undefined) return verdicts.noMessage;
  if (!(error instanceof APIError)) return judgeStreamError(error, context);
  const byCode = verdicts.byErrorCode.get(error.errorCode ?? '');
  if (byCode !== undefined) return byCode;
  if (error instanceof APIConnectionError) {
    return mayHaveArrived(error) ? verdicts.lost : verdicts.unreachable;
  }
  const special = judgeByText(error);
  if (special !== null) return special;
  if (typeof error.status !== 'number') {
    return verdicts.byErrorType.get(error.type ?? '') ?? verdicts.unexpected;
  }
  return verdicts.byStatus.get(error.status) ?? judgeUnknownStatus(error, error.status);
}

/** Judges errors with neither status nor type: the body could not be read as a stream of events. */
function judgeStreamError(error: unknown, { response }: ErrorContext): verdicts.Verdict {
  const cause = isRecord(error) ? error['cause'] : undefined;
  // Sockets and decompression fail with a code.
  if (findCode(cause) !== null) return verdicts.cut;
  // A TypeError is the SDK's, about the shape of an event.
  if (isRecord(cause) && cause['name'] === 'TypeError') return verdicts.noMessage;
  const isStream = response?.contentType?.startsWith('text/event-stream') === true;
  return isStream && response.bodyBytes > 0 ? verdicts.cut : verdicts.noMessage;
}

/**
 * Judges by wording, because the API has no codes for these errors. If the wording changes, the status decides and the
 * run still stops with the text.
 */
function judgeByText(error: APIError): verdicts.Verdict | null {
  const refused = error.status === 400 || error.type === 'invalid_request_error';
  const text = asText(error.apiMessage) ?? '';
  if (!refused) return null;
  if (/prompt is too long|exceeds? (?:the )?context (?:limit|window)/i.test(text)) {
    return verdicts.tooLong;
  }
  if (/(?:usage|spend|spending) limit/i.test(text)) return verdicts.spendCap;
  if (/credit balance/i.test(text)) return verdicts.billing;
  return isAboutOutput(text) ? verdicts.refusedSchema : null;
}

/** Excludes faults in a tool's schema, which no other form of the output repairs. */
function isAboutOutput(text: string): boolean {
  if (/\binput_schema\b/i.test(text)) return false;
  return /\b(?:grammar|schemas?|output_config|output_format|structured outputs?)\b/i.test(text);
}

function judgeUnknownStatus(error: APIError, status: number): verdicts.Verdict {
  if (status >= 300 && status < 400) return verdicts.moved;
  const asked = error.headers?.get('x-should-retry');
  const retry = asked === 'true' || (asked !== 'false' && status >= 500);
  return retry ? verdicts.unexpected : verdicts.refused;
}

/** Returns true when the request may have reached the API and been billed, although no reply came. */
function mayHaveArrived(error: unknown): boolean {
  return !/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|NOT_CONNECTED|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/.test(
    findCode(error) ?? '',
  );
}

/** Finds the operating system's or HTTP client's code of an error or of its causes. */
function findCode(error: unknown): string | null {
  let at = error;
  for (let depth = 0; isRecord(at) && depth < 5; depth += 1) {
    if (typeof at['code'] === 'string') return at['code'];
    // A host with several addresses: each was tried, and each failed.
    const { errors } = at;
    at = Array.isArray(errors) ? errors[0] : at['cause'];
  }
  return null;
}

/** Checks without `instanceof`, because errors of the HTTP client may come from another realm. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

type Facts = Pick<ModelFailure['details'], 'status' | 'type' | 'error_code' | 'request_id'>;

function readFacts(error: unknown, { response }: ErrorContext): Facts {
  const api = error instanceof APIError ? error : null;
  return {
    status: typeof api?.status === 'number' ? api.status : (response?.status ?? null),
    type: asName(api?.type),
    error_code: asName(api?.errorCode),
    request_id: asName(api?.requestID ?? response?.requestId),
  };
}

function describeFacts(error: unknown, facts: Facts, origin: string | null): string {
  const code = findCode(error);
  const parts = [
    ...(facts.status === null ? [] : [`HTTP ${facts.status}`]),
    ...((facts.error_code ?? facts.type ?? code) ? [facts.error_code ?? facts.type ?? code] : []),
    ...(origin === null ? [] : [origin]),
    facts.request_id === null ? 'no request id' : `request ${facts.request_id}`,
  ];
  return parts.join(', ');
}

function readRetryAfterMs(error: unknown, context: ErrorContext): number | undefined {
  const header = error instanceof APIError ? error.headers?.get('retry-after') : undefined;
  if (header === undefined || header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const askedMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - context.nowMs;
  if (Number.isNaN(askedMs)) return undefined;
  const waitMs = Math.max(0, askedMs);
  const jitterMs = context.random * Math.max(1_000, waitMs / 10);
  return Math.min(Math.ceil(waitMs + jitterMs), retryAfterMaxMs);
}

function computeFailedUsage(error: unknown, context: ErrorContext): Usage | null {
  const { tokens, model: answered, requestedModel: requested } = context;
  if (tokens !== null) return computeUsage({ requested, answered }, tokens);
  const refusedByStatus = context.response !== null && context.response.status >= 400;
  const billed = !refusedByStatus && mayHaveArrived(error);
  return billed ? context.worst() : null;
}

function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Keeps short identifiers only, because the value goes into the history unchanged. */
function asName(value: unknown): string | null {
  return typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value) ? value : null;
}
