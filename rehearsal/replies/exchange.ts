import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenCall } from '../call-log.ts';
import type { CallOutcome } from '../script.ts';

/** `error.type` that the API sends with a status. */
const typeByStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The API's error type for a status; any other 4xx is an invalid request, anything else an API error. */
export function errorTypeOf(status: number): string {
  return typeByStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** The status with which the API sends an error type; 500 for unknown types. */
export function statusOf(errorType: string): number {
  const found = Object.entries(typeByStatus).find(([, type]) => type === errorType);
  return found === undefined ? 500 : Number(found[0]);
}

interface ApiError {
  readonly type: string;
  readonly message: string;
  /** `details.error_code`. */
  readonly code?: string | undefined;
}

/** `{"type":"error","error":{"type","message","details"?},"request_id"}` as JSON text. */
export function formatApiError(error: ApiError, requestId: string): string {
  const details = error.code === undefined ? {} : { details: { error_code: error.code } };
  return JSON.stringify({
    type: 'error',
    error: { type: error.type, message: error.message, ...details },
    request_id: requestId,
  });
}

type Headers = Readonly<Record<string, string>>;

/** The client closed its connection before the reply was complete. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * One HTTP response, with its recorded call kept up to date.
 *
 * Every method but `cut` and `fail` throws or rejects with `ClientGone` once the client has gone. A call counts as
 * ended just before the client can see the end, so that a client that has its reply finds the call ended.
 */
export class Exchange {
  readonly requestId: string;
  readonly #response: ServerResponse;
  readonly #call: OpenCall;
  readonly #gone = new AbortController();

  constructor(response: ServerResponse, call: OpenCall, requestId: string) {
    this.requestId = requestId;
    this.#response = response;
    this.#call = call;
    response.on('error', () => this.#gone.abort());
    response.on('close', () => {
      if (!response.writableFinished) this.#gone.abort();
      call.end('client-closed');
    });
  }

  /** Waits so many milliseconds. */
  async pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    try {
      await sleep(ms, undefined, { signal: this.#gone.signal });
    } catch {
      throw new ClientGone();
    }
  }

  #writeHead(status: number, headers: Headers): void {
    if (this.#gone.signal.aborted) throw new ClientGone();
    this.#call.replied(status);
    this.#response.writeHead(status, { 'request-id': this.requestId, ...headers });
  }

  /** Sends the headers of a success at once, before any body. */
  sendHead(headers: Headers): Promise<void> {
    this.#writeHead(200, headers);
    this.#response.flushHeaders();
    return this.write('');
  }

  /** Resolves when the text has left the process. */
  write(text: string): Promise<void> {
    const { signal } = this.#gone;
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(new ClientGone());
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener('abort', stop, { once: true });
      this.#response.write(text, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
    });
  }

  /** Ends a response whose headers were sent. */
  finish(text: string, outcome: CallOutcome): void {
    this.#call.end(outcome);
    this.#response.end(text);
  }

  /** Sends a whole response. */
  send(status: number, headers: Headers, body: string): void {
    this.#writeHead(status, headers);
    this.finish(body, 'answered');
  }

  /** Destroys the socket. */
  cut(): void {
    this.#call.end('cut');
    this.#response.destroy();
  }

  /** Says that the server itself failed: an HTTP 500, or a cut when the headers were sent already. */
  fail(error: unknown): void {
    if (this.#response.headersSent || this.#gone.signal.aborted) {
      this.cut();
      return;
    }
    const message = `The rehearsal model failed: ${String(error)}`;
    const body = formatApiError({ type: 'api_error', message }, this.requestId);
    this.send(500, { 'content-type': 'application/json' }, body);
  }

  /** Waits until the client has gone. Always rejects. */
  stall(): Promise<never> {
    const { signal } = this.#gone;
    return new Promise((_, reject) => {
      const stop = (): void => reject(new ClientGone());
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }
}
