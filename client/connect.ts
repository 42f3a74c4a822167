import { Connection, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { codeOf, PlanwaveClientError } from './client-error.ts';
import { explainSighting, explainTlsSettings } from './explain-connection.ts';
import { probeServer, readOwnTls } from './probe-server.ts';
import { isRefusal, refusedCredentials, serverCure } from './server-calls.ts';
import { taskQueue } from '../contracts/names.ts';
import { setVariables } from '../core/json.ts';
import { messageOf } from '../core/text/message-of.ts';

export interface ConnectOptions {
  /** `host:port`. If undefined: TEMPORAL_ADDRESS, then the profile file, then `localhost:7233`. */
  readonly address?: string | undefined;
  /** Default: TEMPORAL_NAMESPACE, then the profile file, then `default`. */
  readonly namespace?: string | undefined;
  /** Environment to read. If undefined: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** In milliseconds. If undefined: 4,000, because a terminal waits for it. */
  readonly timeoutMs?: number | undefined;
}

interface ServerConnection {
  readonly connection: Connection;
  readonly address: string;
  readonly namespace: string;
}

interface ServerConfig {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ConnectionOptions;
}

const defaultAddress = 'localhost:7233';
const defaultTimeoutMs = 4_000;

/**
 * Reads the server's address and credentials from the same variables and profile file as the Temporal CLI.
 * @throws PlanwaveClientError `bad_input` for a profile, certificate or variable that can't be read.
 */
export function loadServerConfig(options: ConnectOptions = {}): ServerConfig {
  try {
    const loaded = loadClientConnectConfig({
      overrideEnvVars: setVariables(options.env ?? process.env),
    });
    const { address, apiKey, tls, metadata } = loaded.connectionOptions;
    const connectionOptions: ConnectionOptions = {
      address: options.address ?? address ?? defaultAddress,
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(tls === undefined ? {} : { tls }),
      ...(metadata ? { metadata } : {}),
      channelArgs: reconnectSoon,
    };
    return {
      address: connectionOptions.address ?? defaultAddress,
      namespace: options.namespace ?? loaded.namespace ?? 'default',
      connectionOptions,
    };
  } catch (error) {
    throw new PlanwaveClientError(
      'bad_input',
      `The Temporal client configuration can't be used: ${summarise(error)}. ` +
        'Try: check the TEMPORAL_* variables and the file that TEMPORAL_CONFIG_FILE names.',
    );
  }
}

/**
 * Connects, and proves that a Temporal server answers.
 * @throws PlanwaveClientError `unreachable` or `unauthorized` that names the address and the cause, within 10 s.
 */
export async function connectToServer(options: ConnectOptions = {}): Promise<ServerConnection> {
  const config = loadServerConfig(options);
  const connection = openConnection(config, options.timeoutMs ?? defaultTimeoutMs);
  try {
    await connection.ensureConnected();
    return { connection, address: config.address, namespace: config.namespace };
  } catch (error) {
    await connection.close();
    throw await connectFailure(config, error);
  }
}

/**
 * Opens a connection that is made at its first use.
 * @throws PlanwaveClientError `bad_input` for an address that is none, and for a certificate or key that can't be used.
 */
export function openConnection(config: ServerConfig, timeoutMs = defaultTimeoutMs): Connection {
  try {
    return Connection.lazy({ ...config.connectionOptions, connectTimeout: timeoutMs });
  } catch (error) {
    throw (
      unusableCertificate(error) ??
      new PlanwaveClientError(
        'bad_input',
        `Temporal address ${JSON.stringify(config.address)} can't be used: ${summarise(error)}. ` +
          'Try: host:port, as in localhost:7233',
        { cause: error },
      )
    );
  }
}

/** The error for a failed connection attempt. gRPC hides the reason, so the address is probed once. */
export async function connectFailure(
  config: ServerConfig,
  error: unknown,
): Promise<PlanwaveClientError> {
  const { address, connectionOptions } = config;
  const { apiKey } = connectionOptions;
  if (isRefusal(error)) {
    return refusedCredentials(config, typeof apiKey === 'string' ? apiKey : null, error);
  }
  const unusable = unusableCertificate(error);
  if (unusable !== null) return unusable;
  const sighting = await probeServer(config);
  const { what, cure } = explainSighting(sighting, readOwnTls(config), Date.now());
  return new PlanwaveClientError(
    'unreachable',
    `No Temporal server can be reached at ${address}: ${what}. Try: ${cure ?? serverCure}.`,
    { cause: error },
  );
}

/** Returns null for an error that is not about the client's own certificate. */
function unusableCertificate(error: unknown): PlanwaveClientError | null {
  const explained = explainTlsSettings(String(codeOf(error)));
  if (explained === null) return null;
  const { what, cure } = explained;
  const text = `The Temporal client configuration can't be used: ${what}. Try: ${cure}.`;
  return new PlanwaveClientError('bad_input', text, { cause: error });
}

/** gRPC waits up to two minutes between attempts by default; someone who watches a run wants seconds. */
const reconnectSoon = {
  'grpc.initial_reconnect_backoff_ms': 250,
  'grpc.min_reconnect_backoff_ms': 250,
  'grpc.max_reconnect_backoff_ms': 2_000,
};

/** The first line only: the lines after it quote the profile file, which may hold a key. */
function summarise(error: unknown): string {
  const [first = ''] = messageOf(error).split('\n');
  const hasLine = typeof error === 'object' && error !== null && 'line' in error;
  return `${first.replace(/[.:]$/, '')}${hasLine ? ` in line ${String(error.line)}` : ''}`;
}

/** Returns the worker's task queue: `PLANWAVE_TASK_QUEUE`, which the worker reads too, else `planwave`. */
export function taskQueueOf(env: Readonly<Record<string, string | undefined>>): string {
  return env['PLANWAVE_TASK_QUEUE'] || taskQueue;
}
