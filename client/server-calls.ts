import {
  ApplicationFailure,
  defaultPayloadConverter,
  WorkflowNotFoundError,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import {
  Connection,
  isGrpcServiceError,
  NamespaceNotFoundError,
  ServiceError,
  WorkflowUpdateFailedError,
  type ConnectionLike,
  type ScheduleClient,
  type WorkflowClient,
} from '@temporalio/client';
import { PlanwaveClientError } from './client-error.ts';
import { explainRefusal, readToken, timeOf } from './explain-refusal.ts';
import { isRecord } from '../core/json.ts';
import { entryPoints } from '../core/text/entry-points.ts';
import { keyIdOf } from '../encryption/encrypting-codec.ts';
import { CannotDecrypt } from '../encryption/key-ring.ts';
import { commandText } from '../core/text/format.ts';
import { messageOf } from '../core/text/message-of.ts';

/** The gRPC status codes that the client tells apart. The numbers are part of the gRPC protocol. */
export const grpcCodes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Server of a call, for deadlines and error texts. */
export interface ServerAddress {
  readonly connection: ConnectionLike;
  /** Text that stands for the server in error texts. */
  readonly address: string;
  readonly namespace: string;
}

/** Milliseconds for a call that the server answers alone, without a worker. */
const serverCallTimeoutMs = 3_000;

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
  if (error instanceof CannotDecrypt) return new PlanwaveClientError('encrypted', error.message);
  if (error instanceof NamespaceNotFoundError) return namespaceMissing(server, error);
  if (error instanceof WorkflowNotFoundError || isOvertakenUpdate(error)) {
    return notFound(server, runId, error);
  }
  if (isRefusal(error)) return refusedCredentials(server, apiKeyOf(server.connection), error);
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
  return messageOf(inner)
    .replace(/^\d+ [A-Z_]+: /, '')
    .replace(/\.$/, '');
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
  // Of a message that comes to an ended run, and of one that the end of a run overtook.
  const isTold = /already completed|aborted by closing workflow/i.test(grpcText(error));
  if (isTold || isOvertakenUpdate(error)) {
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

/** Returns true for an update that a run accepted and that its end overtook, such as a termination. */
function isOvertakenUpdate(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  const { cause } = error;
  return cause instanceof ApplicationFailure && cause.type === 'AcceptedUpdateCompletedWorkflow';
}

function invalidArgument(error: unknown): PlanwaveClientError {
  const text = grpcText(error);
  const cure = /search attribute/i.test(text) ? ` Try: ${commandText('doctor')}` : '';
  return new PlanwaveClientError('bad_input', `The server refused the request: ${text}.${cure}`, {
    cause: error,
  });
}

/** Cure for a server that does not answer. */
export const serverCure = `start one with "${entryPoints.dev}", or set TEMPORAL_ADDRESS (or --address) to where it runs`;

/** The error for a server that was connected and no longer answers. */
function serverLost(address: string, error: unknown): PlanwaveClientError {
  return new PlanwaveClientError(
    'unreachable',
    `The Temporal server at ${address} no longer answers. Try: ${serverCure}.`,
    { cause: error },
  );
}

/** Returns true for a server that answers and does not let this client in. */
export function isRefusal(error: unknown): boolean {
  const code = grpcCodeOf(error);
  return code === grpcCodes.unauthenticated || code === grpcCodes.permissionDenied;
}

/** The error for refused credentials. @param apiKey The key that was sent, null when none was. */
export function refusedCredentials(
  { address, namespace }: Pick<ServerAddress, 'address' | 'namespace'>,
  apiKey: string | null,
  error: unknown,
): PlanwaveClientError {
  const text = grpcText(error);
  const { what, cure } = explainRefusal({ text, namespace, apiKey, nowMs: Date.now() });
  return new PlanwaveClientError(
    'unauthorized',
    `The Temporal server at ${address} refused the credentials: ${what}. Try: ${cure}.`,
    { cause: error },
  );
}

/** The API key of a connection; null when it has none. */
function apiKeyOf(connection: ConnectionLike): string | null {
  if (!(connection instanceof Connection)) return null;
  const { options } = connection;
  // The SDK keeps it there, and leaves it out of the type.
  const given: unknown = 'apiKey' in options ? options.apiKey : null;
  const key: unknown = typeof given === 'function' ? given() : given;
  return typeof key === 'string' ? key : null;
}

/** Returns when the API key of a connection expires; null without a key, or when it does not say. */
export function keyExpiryOf(connection: ConnectionLike): string | null {
  const expiresAt = readToken(apiKeyOf(connection) ?? '')?.expiresAt ?? null;
  return expiresAt === null ? null : timeOf(expiresAt);
}

/** A text as it stands in a visibility query, such as the one of `temporal workflow list --query`. */
export function queryText(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}

/** Context that the parts of the client share. */
export interface ClientContext extends ServerAddress {
  readonly workflows: WorkflowClient;
  /** The same for lists and descriptions: words stand for what can't be decrypted, so that the rest can be read. */
  readonly lists: WorkflowClient;
  /** Words stand for what can't be decrypted, as in `lists`. */
  readonly schedules: ScheduleClient;
  readonly taskQueue: string;
  /** Decrypts what comes from the server. */
  readonly codec: PayloadCodec;
  readonly hasKeys: boolean;
  readonly workerTimeoutMs: number;
  /** Takes the secrets out of what is to be sent. The server keeps it before any code of the engine sees it. */
  readonly redact: <T>(outgoing: T) => T;
}

/** Decodes a payload that the SDK leaves as the server has it. @throws {CannotDecrypt} */
export async function decodePayload(codec: PayloadCodec, payload: Payload): Promise<unknown> {
  const [decoded] = await codec.decode([payload]);
  return decoded === undefined ? null : defaultPayloadConverter.fromPayload<unknown>(decoded);
}

/** Returns the message of a failure as the server has it, which a worker with keys has put into a payload. */
export async function messageOfFailure(
  codec: PayloadCodec,
  failure: { readonly message?: string | null; readonly encodedAttributes?: Payload | null },
): Promise<string | null> {
  const { message, encodedAttributes } = failure;
  if (!encodedAttributes) return message ?? null;
  try {
    const attributes = await decodePayload(codec, encodedAttributes);
    const encoded = isRecord(attributes) ? attributes['message'] : undefined;
    return typeof encoded === 'string' ? encoded : (message ?? null);
  } catch (error) {
    return error instanceof CannotDecrypt ? `(encrypted) ${error.message}` : (message ?? null);
  }
}

/**
 * Keeps a client without keys from sending plain text to a run that is encrypted.
 *
 * @throws PlanwaveClientError `encrypted`.
 */
export async function refusePlainText(context: ClientContext, runId: string): Promise<void> {
  if (context.hasKeys) return;
  const { connection, namespace } = context;
  const { workflowExecutionInfo } = await callServer(context, runId, () =>
    connection.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId: runId },
    }),
  );
  const memo = Object.values(workflowExecutionInfo?.memo?.fields ?? {});
  const keyId = memo.map(keyIdOf).find((id) => id !== null);
  if (keyId === undefined) return;
  throw new PlanwaveClientError(
    'encrypted',
    `Run ${runId} is encrypted with the key "${keyId}", and nothing is sent to it as plain text. Try: set PLANWAVE_KEYS to the value that the worker uses`,
  );
}
