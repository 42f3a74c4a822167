import type { WorkflowClientInterceptor } from '@temporalio/client';

/** What traces a command, when a collector is configured. */
export interface ClientTracing {
  readonly clientInterceptors: readonly WorkflowClientInterceptor[];
  /** Sends what is left. Never throws. */
  stop(): Promise<void>;
}
