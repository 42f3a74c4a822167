import { connect as connectSocket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { messageOf } from '../bootstrap/expected-error.mjs';

/** What answers at an address: `free` means nothing listens there, `other` that it is not Temporal. */
export type Answer = 'free' | 'temporal' | 'other';

/** Where the embedded server listens; `localhost` may mean IPv6 first. */
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
 * A port that its finder may listen on, and that the system gives to nobody else for a minute: a connection that the
 * listening side has closed keeps it from whoever asks for any free port. Without that, a server that starts meanwhile,
 * and takes a dozen, may well get it.
 *
 * @returns a port of this machine that nobody listened on a moment ago
 */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => {}).end());
    server.once('error', reject);
    server.listen(0, localHost, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') {
        reject(new Error('no port was given'));
        return;
      }
      const { port } = address;
      const socket = connectSocket({ host: localHost, port });
      socket.once('error', reject).once('close', () => server.close(() => resolve(port)));
      // Only who reads to the end hears that the other side has closed.
      socket.resume();
    });
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
