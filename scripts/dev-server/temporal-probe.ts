import { randomInt } from 'node:crypto';
import { connect as connectSocket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { messageOf } from '../bootstrap/expected-error.mjs';

/** The kind of answer at an address: `free` means nothing listens there, `other` that it is not Temporal. */
export type Answer = 'free' | 'temporal' | 'other';

/** The address on which the embedded server listens; `localhost` may mean IPv6 first. */
export const localHost = '127.0.0.1';

const socketTimeoutMs = 2_000;
const probeTimeoutMs = 1_500;
const probeAttempts = 4;
const connectTimeoutMs = 10_000;

/** By default gRPC waits ever longer between attempts, and a later connection to the same address inherits the wait. */
const channelArgs = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

/** Asks an address on this machine, without changing anything there. */
export async function probeAddress(host: string, port: number): Promise<Answer> {
  for (let attempt = 0; attempt < probeAttempts; attempt += 1) {
    // Asked each time: a process that is just ending still holds its port for a moment.
    if (!(await isListening(host, port))) return 'free';
    if (await canConnect(`${host}:${port}`, probeTimeoutMs)) return 'temporal';
  }
  return 'other';
}

/** @returns true when something accepts a connection, whatever it is */
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
 * Ports below those that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere). A server that
 * restarts on a port from that range may find that a connection of another process has taken it meanwhile. 1,000 are left
 * above, for the Web UI of a server.
 */
const portRange = { first: 10_240, count: 21_000 };

/** Begins anywhere, so that processes which look at the same time look at different ports. */
let nextPort = randomInt(portRange.count);

/**
 * Finds a port to listen on. One process is given a port twice only when it has been given all others.
 *
 * @returns a port of this machine that nobody listened on a moment ago
 * @throws when somebody listens on every port of the range
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < portRange.count; tries += 1) {
    const port = portRange.first + nextPort;
    nextPort = (nextPort + 1) % portRange.count;
    // One after the other: the first that is free will do.
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
 * Connects with everything the environment says (TLS, API key) and the given address.
 *
 * @throws when nothing that speaks Temporal answers in time
 */
export function connectTo(address: string, timeoutMs = connectTimeoutMs): Promise<Connection> {
  const { connectionOptions } = loadClientConnectConfig();
  return Connection.connect({
    ...connectionOptions,
    address,
    connectTimeout: timeoutMs,
    channelArgs,
  });
}

/** The namespace that the environment names; default `default`. */
export function namespaceOf(): string {
  return loadClientConnectConfig().namespace ?? 'default';
}

/** @returns true when Temporal answers in time */
export async function canConnect(address: string, timeoutMs = connectTimeoutMs): Promise<boolean> {
  try {
    await (await connectTo(address, timeoutMs)).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until the server answers and its namespace exists: right after its start it answers before that.
 *
 * @param giveUp settles when waiting has become pointless, for example because the server ended
 * @returns the last failure, or undefined once the server is ready
 */
export async function waitForNamespace(
  host: string,
  port: number,
  timeoutMs: number,
  giveUp: AbortSignal,
): Promise<string | undefined> {
  const deadline = Date.now() + timeoutMs;
  let reason = 'it did not answer';
  while (Date.now() < deadline && !giveUp.aborted) {
    await sleep(100);
    if (!(await isListening(host, port))) continue;
    try {
      const connection = await connectTo(`${host}:${port}`);
      try {
        await connection.workflowService.describeNamespace({ namespace: namespaceOf() });
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
