import type { ServerResponse } from 'node:http';
import { errorTypeOf, formatApiError } from './api-error.ts';

/** Sends a whole JSON response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  requestId: string,
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId });
  response.end(JSON.stringify(body));
}

/** Sends an error in the API's shape. */
export function sendApiError(
  response: ServerResponse,
  status: number,
  message: string,
  requestId: string,
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId });
  response.end(formatApiError({ type: errorTypeOf(status), message }, requestId));
}
