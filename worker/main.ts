import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { loadWorkflowBundle } from './bundle-workflows.ts';
import { createActivities } from './create-activities.ts';
import { createWorker } from './create-worker.ts';
import { readWorkerSettings } from './worker-settings.ts';

export interface RunWorkerOptions {
  /** Ends the worker: calls in flight finish within the grace time, then the promise resolves. */
  readonly signal: AbortSignal;
  /** Called when the worker polls. */
  readonly onReady: (taskQueue: string) => void;
}

/**
 * Runs one worker until `signal`. Everything about where comes from the environment (`TEMPORAL_*`, `ANTHROPIC_*`,
 * `PLANWAVE_HOME`, `PLANWAVE_MODEL`, `PLANWAVE_TASK_QUEUE`, `PLANWAVE_WORKER_GRACE_SECONDS`).
 *
 * @throws {BadSettings} when a setting is missing or wrong.
 */
export async function runWorker({ signal, onReady }: RunWorkerOptions): Promise<void> {
  const settings = readWorkerSettings(process.env);
  Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: [] });
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect(connectionOptions),
    loadWorkflowBundle(),
  ]);
  try {
    const worker = await createWorker({
      connection,
      namespace,
      workflowBundle,
      activities: createActivities(settings),
      taskQueue: settings.taskQueue,
      shutdownGraceMs: settings.shutdownGraceMs,
    });
    const stop = (): void => worker.shutdown();
    const running = worker.run();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    onReady(settings.taskQueue);
    await running;
  } finally {
    // Without this the process never ends.
    await connection.close();
  }
}
