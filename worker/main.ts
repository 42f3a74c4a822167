import { hostname } from 'node:os';
import { Client } from '@temporalio/client';
import {
  NativeConnection,
  makeTelemetryFilterString,
  Runtime,
  type MetricsExporterConfig,
} from '@temporalio/worker';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { openStores } from '../activities/adapters/open-stores.ts';
import {
  createEncryptingCodec,
  explainFault,
  describeMissingKeys,
} from '../encryption/encrypting-codec.ts';
import { type Recorder, createRecorder } from '../core/metrics/create-recorder.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import type { OwnTool } from '../activities/tools/own-tool.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import { createRedactor, type Redactor } from '../redaction/create-redactor.ts';
import { setVariables } from '../core/json.ts';
import { nameWorker } from '../core/run/run-place.ts';
import { allMetrics } from '../core/metrics/metrics.ts';
import { computeBuildId, loadWorkflowBundle } from './bundle-workflows.ts';
import { cipherOf, createActivities } from './create-activities.ts';
import { createRedactionCounter, redactOutput, createLogger } from './create-logger.ts';
import { createWorker } from './create-worker.ts';
import { describeDeployment, type WorkerDeployment } from './describe-deployment.ts';
import { loadMiddlewares, loadTools } from './load-modules.ts';
import { collectMcpSecrets, openMcp } from './open-mcp.ts';
import { openCommands } from './open-commands.ts';
import { startWatchdog } from './watchdog.ts';
import { watchQuestions } from './watch-questions.ts';
import type { Tracing } from './start-tracing.ts';
import { BadSettings, readWorkerSettings, type WorkerProcessSettings } from './worker-settings.ts';
import { messageOf } from '../core/text/message-of.ts';

/** Description of a worker that polls. */
export interface ReadyWorker {
  readonly taskQueue: string;
  readonly buildId: string;
  /** Null without worker versioning. */
  readonly deployment: WorkerDeployment | null;
}

export interface RunWorkerOptions {
  /** Ends the worker: calls in flight finish within the grace time, then the promise resolves. */
  readonly signal: AbortSignal;
  /** Called when the worker polls. */
  readonly onReady: (worker: ReadyWorker) => void;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Besides those of the file that `PLANWAVE_TOOLS` names. Default none. */
  readonly tools?: readonly OwnTool[];
  /** Besides those of the file that `PLANWAVE_MIDDLEWARES` names. Default none. */
  readonly middlewares?: readonly Middleware[];
  /** False leaves what the process prints as it is. Default true. */
  readonly redactsOutput?: boolean;
}

/**
 * Runs one worker until `signal`. Its settings come from the environment (`TEMPORAL_*`, `ANTHROPIC_*`,
 * `PLANWAVE_HOME`, `PLANWAVE_STORE_URL`, `PLANWAVE_KEYS`, `PLANWAVE_MODEL`, `PLANWAVE_TASK_QUEUE`, `PLANWAVE_WORKER_GRACE_SECONDS`,
 * `PLANWAVE_BLOCKED_SECONDS`, `PLANWAVE_TOOLCHAINS`, `PLANWAVE_SHARED_FOLDERS`, `PLANWAVE_UNCONFINED_COMMANDS`,
 * `PLANWAVE_MIDDLEWARES`, `PLANWAVE_TOOLS`, `PLANWAVE_MCP`, `PLANWAVE_READABLE_FILES`, `PLANWAVE_UNTRUSTED_WORKSPACES`, `PLANWAVE_WEB`, `PLANWAVE_WEB_MODEL`, `PLANWAVE_WEB_HOSTS`, `PLANWAVE_NOTIFY`, `PLANWAVE_NOTIFY_SECRET`, `PLANWAVE_MODEL_RATE`, `PLANWAVE_MODEL_QUEUE`, `PLANWAVE_WORKER_MEMORY`, `PLANWAVE_METRICS_ADDRESS`, `PLANWAVE_LOG`, `PLANWAVE_LOG_LEVEL`,
 * `OTEL_*`, `TEMPORAL_DEPLOYMENT_NAME`, `TEMPORAL_WORKER_BUILD_ID`).
 *
 * @throws {BadSettings} when a setting is missing or wrong, or the store has another format.
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { signal, onReady, env = process.env, redactsOutput = true } = options;
  const settings = readWorkerSettings(env);
  const recorder = installRuntime(settings);
  const mcp = openMcp(settings.tools.mcpFiles, env);
  const redactor = createRedactor({
    secrets: [...collectOwnSecrets(env), ...collectMcpSecrets(mcp.servers)],
    onRedacted: createRedactionCounter(recorder),
  });
  for (const stream of redactsOutput ? [process.stdout, process.stderr] : []) {
    process.once('exit', redactOutput(stream, redactor));
  }
  const stores = openStores({ ...settings, cipher: cipherOf(settings) });
  const storeFault = await stores.open();
  if (storeFault !== null) throw new BadSettings(storeFault);
  const identity = nameWorker(`${process.pid}@${hostname()}`, await stores.identify());
  const middlewares = await loadMiddlewares(settings.middlewaresFile, options.middlewares);
  const tools = await loadTools(settings.tools.file, options.tools);
  const tracing = settings.traced ? await loadTracing(redactor, settings, env) : undefined;
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: setVariables(env),
  });
  const { taskQueue, deploymentName, keys } = settings;
  const [connection, workflowBundle, buildId, commands] = await Promise.all([
    NativeConnection.connect(connectionOptions),
    loadWorkflowBundle({ ...settings, encrypted: keys.ids.length > 0 }),
    settings.buildId ?? computeBuildId([settings.middlewaresFile, settings.tools.file]),
    openCommands(settings.commands),
  ]);
  await assertKeys(connection, { namespace, taskQueue, keys });
  const own = [middlewares, commands, tools, mcp] as const;
  const stopWatching = watchRuns(connection, namespace, settings, recorder);
  // After the bundling, which is no work of an activity.
  const stopWatchdog = startWatchdog({ ...settings, redactor });
  try {
    const worker = await createWorker({
      ...settings,
      connection,
      namespace,
      workflowBundle,
      activities: createActivities(settings, redactor, {}, recorder, ...own, stores),
      redactor,
      buildId,
      tracing,
      identifyStore: stores.identify,
      identity,
    });
    const ready = {
      taskQueue,
      buildId,
      deployment: await describeDeployment(connection, namespace, deploymentName, buildId),
    };
    const stop = (): void => worker.shutdown();
    const running = worker.run();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    onReady(ready);
    await running;
  } finally {
    stopWatching();
    await stopWatchdog();
    await mcp.close();
    await tracing?.stop();
    // Without this the process never ends.
    await connection.close();
  }
}

/** @throws {BadSettings} when open runs need keys that this worker does not have. */
async function assertKeys(...asked: Parameters<typeof describeMissingKeys>): Promise<void> {
  const missing = await describeMissingKeys(...asked);
  if (missing !== null) throw new BadSettings(missing);
}

/** Counts what waits for people, where metrics are read. @returns a function that ends it. */
function watchRuns(
  connection: NativeConnection,
  namespace: string,
  { metricsAddress, keys }: WorkerProcessSettings,
  recorder: Recorder,
): () => void {
  if (metricsAddress === undefined) return () => {};
  // A run that can't be read is counted too.
  const codec = createEncryptingCodec(keys, namespace, explainFault);
  const client = new Client({ connection, namespace, dataConverter: { payloadCodecs: [codec] } });
  return watchQuestions(client, recorder);
}

/** Loads the OpenTelemetry SDK only when the worker traces. */
async function loadTracing(
  redactor: Redactor,
  { log }: WorkerProcessSettings,
  env: NodeJS.ProcessEnv,
): Promise<Tracing> {
  const { startTracing } = await import('./start-tracing.ts');
  return startTracing(redactor, { hidesErrors: log.hidesErrors === true, env });
}

/**
 * Sets up the parts that exist once per process: the log, and the Prometheus endpoint when an address for it is set.
 *
 * @returns the recorder of metrics; without an endpoint it does nothing.
 * @throws {BadSettings} when another process listens on the address.
 */
function installRuntime({
  metricsAddress,
  log,
}: Pick<WorkerProcessSettings, 'metricsAddress' | 'log'>): Recorder {
  try {
    const runtime = Runtime.install({
      logger: createLogger(log),
      shutdownSignals: [],
      telemetryOptions: {
        // Otherwise the native part of the SDK prints lines in a form of its own.
        logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) },
        ...(metricsAddress !== undefined && { metrics: exportTo(metricsAddress) }),
      },
    });
    return createRecorder(runtime.metricMeter);
  } catch (error) {
    const reason = messageOf(error);
    if (metricsAddress === undefined || !reason.includes('prometheus')) throw error;
    throw new BadSettings(
      `PLANWAVE_METRICS_ADDRESS can't be used: ${reason}. Try: another port, one for each worker of this machine`,
      { cause: error },
    );
  }
}

function exportTo(bindAddress: string): MetricsExporterConfig {
  const buckets = allMetrics.flatMap((metric): [string, number[]][] =>
    metric.type === 'histogram' ? [[metric.name, [...metric.buckets]]] : [],
  );
  return {
    attachServiceName: false,
    prometheus: {
      bindAddress,
      useSecondsForDurations: true,
      histogramBucketOverrides: Object.fromEntries(buckets),
    },
  };
}
