import type { WorkflowClient } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { ServerAddress } from './server-calls.ts';

/** What the parts of the client share. */
export interface ClientContext extends ServerAddress {
  readonly workflows: WorkflowClient;
  readonly taskQueue: string;
  readonly dataConverter: DataConverter | undefined;
  readonly workerTimeoutMs: number;
  /** What is to be sent, without the secrets in it. The server keeps it before any code of the engine sees it. */
  readonly redact: <T>(outgoing: T) => T;
}
