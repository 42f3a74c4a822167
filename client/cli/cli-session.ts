import type { Connection, ConnectionLike } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { collectOwnSecrets } from '../../redaction/own-secrets.ts';
import { connectToServer } from '../connect.ts';
import type { ConnectOptions } from '../connect.ts';
import { createPlanwaveClient } from '../planwave-client.ts';
import type { PlanwaveClient } from '../planwave-client.ts';
import { taskQueueOf } from '../task-queue.ts';
import type { ClientTracing } from './client-tracing.ts';

/** An open connection and the client on it. */
export interface CliSession {
  readonly client: PlanwaveClient;
  readonly connection: ConnectionLike;
  readonly address: string;
  readonly namespace: string;
  close(): Promise<void>;
}

interface SessionDeps {
  readonly dataConverter?: DataConverter | undefined;
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
      dataConverter: deps.dataConverter,
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
 * Closes a connection when no call is under way: closed under one that waits for its next try, the SDK throws in a timer,
 * where nobody can catch it. Every call has a deadline, so this takes seconds at most.
 */
function closerOf(connection: Connection): () => Promise<void> {
  const inFlight = new Set<Promise<unknown>>();
  const withDeadline = connection.withDeadline.bind(connection);
  connection.withDeadline = async (deadline, run) => {
    const call = withDeadline(deadline, run);
    inFlight.add(call);
    try {
      return await call;
    } finally {
      inFlight.delete(call);
    }
  };
  return async () => {
    await Promise.allSettled(inFlight);
    await connection.close();
  };
}
