import { isGrpcServiceError, NamespaceNotFoundError, ServiceError } from '@temporalio/client';
import type { ConnectionLike } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { PlanwaveClientError } from './client-error.ts';
import { commandText } from './command-text.ts';
import { refusedCredentials, serverLost } from './connect-failure.ts';
import { grpcCodes } from './grpc-codes.ts';

/** Where calls go, for deadlines and for error texts. */
export interface ServerAddress {
  readonly connection: ConnectionLike;
  readonly address: string;
  readonly namespace: string;
}

/** Milliseconds for a call that the server answers alone, without a worker. */
export const serverCallTimeoutMs = 3_000;

/**
 * Runs calls that only the server has to answer, and gives up in time.
 *
 * @param timeoutMs for what is longer than an answer, such as a history. Default `serverCallTimeoutMs`.
 * @throws PlanwaveClientError, nothing else.
 */
export async function callServer<T>(
  server: ServerAddress,
  runId: string | null,
  run: () => Promise<T>,
  timeoutMs = serverCallTimeoutMs,
): Promise<T> {
  try {
    return await server.connection.withDeadline(Date.now() + timeoutMs, run);
  } catch (error) {
    throw toClientError(server, runId, error);
  }
}

/** The gRPC status code behind an error of the SDK, which wraps it once; `undefined` when there is none. */
export function grpcCodeOf(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof ServiceError && isGrpcServiceError(error.cause)
    ? error.cause.code
    : undefined;
}

/** Translates what the SDK throws into one line that names the cause and what to try. */
export function toClientError(
  server: ServerAddress,
  runId: string | null,
  error: unknown,
): PlanwaveClientError {
  if (error instanceof PlanwaveClientError) return error;
  if (error instanceof NamespaceNotFoundError) return namespaceMissing(server, error);
  if (error instanceof WorkflowNotFoundError) return notFound(server, runId, error);
  const refusal = refusedCredentials(server.address, error);
  if (refusal) return refusal;
  const code = grpcCodeOf(error);
  if (code === grpcCodes.notFound) return notFound(server, runId, error);
  if (code === grpcCodes.invalidArgument) return invalidArgument(error);
  if (code === grpcCodes.resourceExhausted) return overloaded(server, error);
  if (code !== undefined && silence.has(code)) return serverLost(server.address, error);
  return new PlanwaveClientError('internal', grpcText(error), { cause: error });
}

const silence: ReadonlySet<number> = new Set([
  grpcCodes.unavailable,
  grpcCodes.deadlineExceeded,
  grpcCodes.cancelled,
]);

function overloaded(server: ServerAddress, error: unknown): PlanwaveClientError {
  return new PlanwaveClientError(
    'unreachable',
    `The Temporal server at ${server.address} is overloaded: ${grpcText(error)}. Try: again in a minute.`,
    { cause: error },
  );
}

/** The message for people: the server's own words without gRPC's code in front. */
export function grpcText(error: unknown): string {
  const inner = error instanceof ServiceError && error.cause ? error.cause : error;
  const text = inner instanceof Error ? inner.message : String(inner);
  return text.replace(/^\d+ [A-Z_]+: /, '').replace(/\.$/, '');
}

function namespaceMissing(server: ServerAddress, error: unknown): PlanwaveClientError {
  return new PlanwaveClientError(
    'not_found',
    `The server at ${server.address} has no namespace ${JSON.stringify(server.namespace)}. ` +
      'Try: --namespace, TEMPORAL_NAMESPACE, or create it with ' +
      `"temporal operator namespace create --namespace ${server.namespace}".`,
    { cause: error },
  );
}

function notFound(
  server: ServerAddress,
  runId: string | null,
  error: unknown,
): PlanwaveClientError {
  if (runId === null) return namespaceMissing(server, error);
  if (/already completed/i.test(grpcText(error))) {
    return new PlanwaveClientError(
      'run_ended',
      `Run ${runId} has ended and takes no more messages. Try: ${commandText('report', runId)}`,
      { cause: error },
    );
  }
  return new PlanwaveClientError(
    'not_found',
    `There is no run ${JSON.stringify(runId)} in namespace ${server.namespace} at ${server.address}. ` +
      `Try: ${commandText('list')}`,
    { cause: error },
  );
}

function invalidArgument(error: unknown): PlanwaveClientError {
  const text = grpcText(error);
  const cure = /search attribute/i.test(text) ? ` Try: ${commandText('doctor')}` : '';
  return new PlanwaveClientError('bad_input', `The server refused the request: ${text}.${cure}`, {
    cause: error,
  });
}
