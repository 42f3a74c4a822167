import type { ConnectionLike } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { connectToServer } from '../connect.ts';
import type { ConnectOptions } from '../connect.ts';
import { createPlanwaveClient } from '../planwave-client.ts';
import type { PlanwaveClient } from '../planwave-client.ts';
import { taskQueueOf } from '../task-queue.ts';

/** An open connection and the client on it. */
export interface CliSession {
  readonly client: PlanwaveClient;
  readonly connection: ConnectionLike;
  readonly address: string;
  readonly namespace: string;
  close(): Promise<void>;
}

export async function openSession(
  options: ConnectOptions,
  dataConverter: DataConverter | undefined,
): Promise<CliSession> {
  const server = await connectToServer(options);
  const taskQueue = taskQueueOf(options.env ?? process.env);
  return {
    ...server,
    client: createPlanwaveClient({ ...server, dataConverter, taskQueue }),
    close: () => server.connection.close(),
  };
}
