import { isGrpcServiceError } from '@temporalio/client';
import { connect } from 'node:net';
import { PlanwaveClientError } from './client-error.ts';
import { grpcCodes } from './grpc-codes.ts';

const probeTimeoutMs = 1_500;
const cure =
  'Try: start one with "npm run dev", or set TEMPORAL_ADDRESS (or --address) to where it runs.';

/** The error for a failed connection attempt. gRPC hides the reason, so the address is probed once. */
export async function connectFailure(
  address: string,
  error: unknown,
): Promise<PlanwaveClientError> {
  const refusal = refusedCredentials(address, error);
  if (refusal) return refusal;
  const reason = await probe(address);
  return new PlanwaveClientError(
    'unreachable',
    `No Temporal server can be reached at ${address}: ${reason}. ${cure}`,
    { cause: error },
  );
}

/** The error for a server that was connected and no longer answers. */
export function serverLost(address: string, error: unknown): PlanwaveClientError {
  return new PlanwaveClientError(
    'unreachable',
    `The Temporal server at ${address} no longer answers. ${cure}`,
    { cause: error },
  );
}

export function refusedCredentials(
  address: string,
  error: unknown,
): PlanwaveClientError | undefined {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (!isGrpcServiceError(inner)) return undefined;
  const code: number = inner.code;
  if (code !== grpcCodes.unauthenticated && code !== grpcCodes.permissionDenied) return undefined;
  return new PlanwaveClientError(
    'unauthorized',
    `The Temporal server at ${address} refused the credentials. ` +
      'Try: check TEMPORAL_API_KEY, the TEMPORAL_TLS_* variables and the namespace.',
    { cause: error },
  );
}

/** What a plain TCP connection meets, in words. Never throws. */
function probe(address: string): Promise<string> {
  const { host, port } = splitAddress(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (reason: string): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(probeTimeoutMs, () => {
      finish('no answer');
    });
    socket.once('connect', () => {
      finish('something listens there, but it does not answer as a Temporal server');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      finish(probeReasons[error.code ?? ''] ?? error.code ?? 'no answer');
    });
  });
}

const probeReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name can not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection was reset',
};

function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^\[?(?<host>.*?)\]?(?::(?<port>\d{1,5}))?$/.exec(address);
  const port = Number(match?.groups?.['port'] ?? 7233);
  return { host: match?.groups?.['host'] ?? address, port: port <= 65_535 ? port : 0 };
}
