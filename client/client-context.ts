import type { WorkflowClient } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { ServerAddress } from './server-calls.ts';

/** What the parts of the client share. */
export interface ClientContext extends ServerAddress {
  readonly workflows: WorkflowClient;
  readonly taskQueue: string;
  readonly dataConverter: DataConverter | undefined;
  readonly workerTimeoutMs: number;
}
