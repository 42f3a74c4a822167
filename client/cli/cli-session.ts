import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Connection, WorkflowClientInterceptor } from '@temporalio/client';
import type { KeyRing } from '../../encryption/key-ring.ts';
import { collectOwnSecrets } from '../../redaction/own-secrets.ts';
import { connectToServer, taskQueueOf, type ConnectOptions } from '../connect.ts';
import { createPlanwaveClient, type PlanwaveClient } from '../planwave-client.ts';
import type { ServerAddress } from '../server-calls.ts';

/** Tracing of a command, when a collector is configured. */
export interface ClientTracing {
  readonly clientInterceptors: readonly WorkflowClientInterceptor[];
  /** Sends what is left. Never throws. */
  stop(): Promise<void>;
}

export interface CliSession extends ServerAddress {
  readonly client: PlanwaveClient;
  close(): Promise<void>;
}

interface SessionDeps {
  readonly keys?: KeyRing | undefined;
  readonly startTracing?: (() => Promise<ClientTracing>) | undefined;
}

export async function openSession(
  options: ConnectOptions,
  deps: SessionDeps,
  onRedacted: (rule: string, count: number) => void,
): Promise<CliSession> {
  const server = await connectToServer(options);
  const closeConnection = closerOf(server.connection);
  const tracing = await deps.startTracing?.();
  const env = options.env ?? process.env;
  return {
    ...server,
    client: createPlanwaveClient({
      ...server,
      keys: deps.keys,
      taskQueue: taskQueueOf(env),
      interceptors: tracing?.clientInterceptors,
      secrets: collectOwnSecrets(env),
      onRedacted,
    }),
    async close() {
      await closeConnection();
      await tracing?.stop();
    },
  };
}

/**
 * Ends the calls under way, which are not waited for any more, and closes a connection when they are over: closed under one
 * that waits for its next try, the SDK throws in a timer, where it can't be caught. Every call has a deadline, so this
 * takes seconds at most, and only where the server is away.
 */
function closerOf(connection: Connection): () => Promise<void> {
  const inFlight = new Map<Promise<unknown>, AbortController>();
  let isClosing = false;
  const withDeadline = connection.withDeadline.bind(connection);
  connection.withDeadline = async (deadline, run) => {
    if (isClosing) throw new Error('The connection is closed.');
    const leaving = new AbortController();
    // Each request of the call listens to it, and a list may take many.
    setMaxListeners(0, leaving.signal);
    const call = connection.withAbortSignal(leaving.signal, () => withDeadline(deadline, run));
    inFlight.set(call, leaving);
    try {
      return await call;
    } finally {
      inFlight.delete(call);
    }
  };
  return async () => {
    isClosing = true;
    // The SDK hears of no end that came before its request was made.
    await setImmediate();
    for (const leaving of inFlight.values()) leaving.abort();
    await Promise.allSettled(inFlight.keys());
    await connection.close();
  };
}
