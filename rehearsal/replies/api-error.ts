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

export interface ApiError {
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
