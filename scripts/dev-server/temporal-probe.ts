import { randomInt } from 'node:crypto';
import { connect as connectSocket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { setVariables } from '../../core/json.ts';
import { messageOf } from '../bootstrap/expected-error.mjs';

/** Result of a probe: `free` means that nothing listens, `other` that it is not Temporal. */
export type Answer = 'free' | 'temporal' | 'other';

/** Address of the embedded server; `localhost` may mean IPv6 first. */
export const localHost = '127.0.0.1';

const socketTimeoutMs = 2_000;
const probeTimeoutMs = 1_500;
const probeAttempts = 4;
const connectTimeoutMs = 10_000;

/**
 * Short waits between attempts: by default gRPC waits ever longer, and a later connection to the same address inherits
 * the wait.
 */
const channelArgs = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

/** Probes a port of this machine, without changing anything there. */
export async function probePort(port: number): Promise<Answer> {
  for (let attempt = 0; attempt < probeAttempts; attempt += 1) {
    // Checked each time: an ending process still holds its port for a moment.
    if (!(await isListening(localHost, port))) return 'free';
    if (await canConnect(`${localHost}:${port}`)) return 'temporal';
  }
  return 'other';
}

/** @returns true when any program accepts a connection */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host, port, timeout: socketTimeoutMs });
    const end = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/**
 * Ports below those that systems use for outgoing connections (from 32768 on Linux, from 49152 elsewhere). A server
 * that restarts on such a port may find it taken by another connection. 1,000 are left above, for the Web UI of a
 * server.
 */
const portRange = { first: 10_240, count: 21_000 };

/** Starts at a random port, so that processes that search at the same time try different ones. */
let nextPort = randomInt(portRange.count);

/**
 * Finds a port to listen on. A process gets a port twice only after it has got all others.
 *
 * @returns a port of this machine that was free a moment ago
 * @throws when every port of the range is taken
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < portRange.count; tries += 1) {
    const port = portRange.first + nextPort;
    nextPort = (nextPort + 1) % portRange.count;
    // One after the other: the first free one is enough.
    // oxlint-disable-next-line no-await-in-loop
    if (await canListen(port)) return port;
  }
  throw new Error(`No port from ${portRange.first} on is free. Try: end what listens on them`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, localHost, () => server.close(() => resolve(true)));
  });
}

/**
 * Connects to the given address with the other settings of the environment (TLS, API key).
 *
 * @param env Default: that of this process.
 * @throws when no Temporal server answers in time
 */
export function connectTo(
  address: string,
  timeoutMs = connectTimeoutMs,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Connection> {
  const { connectionOptions } = loadClientConnectConfig({ overrideEnvVars: setVariables(env) });
  return Connection.connect({
    ...connectionOptions,
    address,
    connectTimeout: timeoutMs,
    channelArgs,
  });
}

/** Returns the namespace of an environment; default `default`. @param env Default: that of this process. */
export function namespaceOf(env: NodeJS.ProcessEnv = process.env): string {
  return loadClientConnectConfig({ overrideEnvVars: setVariables(env) }).namespace ?? 'default';
}

/** @returns true when Temporal answers in time */
async function canConnect(address: string): Promise<boolean> {
  try {
    await (await connectTo(address, probeTimeoutMs)).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until the server answers and its namespace exists: right after its start it answers before that.
 *
 * @param giveUp settles when waiting has become pointless, for example because the server ended
 * @param env TLS, API key and namespace. Default: that of this process.
 * @returns the last failure, or undefined once the server is ready
 */
export async function waitForNamespace(
  port: number,
  timeoutMs: number,
  giveUp: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const deadline = Date.now() + timeoutMs;
  let reason = 'it did not answer';
  while (Date.now() < deadline && !giveUp.aborted) {
    await sleep(100);
    if (!(await isListening(localHost, port))) continue;
    try {
      const connection = await connectTo(`${localHost}:${port}`, connectTimeoutMs, env);
      try {
        await connection.workflowService.describeNamespace({ namespace: namespaceOf(env) });
        return undefined;
      } finally {
        await connection.close();
      }
    } catch (error) {
      reason = messageOf(error);
    }
  }
  return reason;
}
