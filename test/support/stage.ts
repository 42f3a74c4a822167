import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, QueryNotRegisteredError } from '@temporalio/client';
import type { WorkflowClientInterceptor, WorkflowHandle } from '@temporalio/client';
import type { Priority } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { workflowTypes } from '../../contracts/names.ts';
import type { PlannerRunResult } from '../../contracts/planner-run.ts';
import type { QuestionsView, StatusView } from '../../contracts/views.ts';
import { startRehearsalServer } from '../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import type { ScriptRule } from '../../rehearsal/script.ts';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { openStores } from '../../activities/adapters/open-stores.ts';
import { createActivities } from '../../worker/create-activities.ts';
import type { ActivityTimes } from '../../worker/create-activities.ts';
import { type ProcessWorker, createWorker } from '../../worker/create-worker.ts';
import type { GrantableTool } from '../../activities/tools/tool.ts';
import type { McpServers } from '../../activities/ports/mcp-servers.ts';
import type { Middleware } from '../../activities/ports/middleware.ts';
import type { Commands } from '../../worker/open-commands.ts';
import type { WorkerSettings } from '../../worker/worker-settings.ts';
import { failOnce, loseAttempts, reportTogether } from './lose-attempts.ts';
import type { FailureType } from '../../contracts/errors.ts';
import { grpcCodeOf, grpcCodes } from '../../client/server-calls.ts';
import { quietRuntime } from './quiet-runtime.ts';
import { sharedBundle, sharedServer } from './shared-server.ts';
import { nameWorker } from '../../core/run/run-place.ts';

export interface StageOptions {
  /** Delay of each reply of the rehearsal model, in milliseconds. Default 5. */
  readonly thinkMs?: number;
  readonly script?: readonly ScriptRule[];
  readonly times?: ActivityTimes;
  /** Default: the shared server. */
  readonly address?: string;
  /** A stage whose server, task queue and model this one shares; its home is its own. Default: none. */
  readonly beside?: Pick<Stage, 'address' | 'taskQueue' | 'rehearsal'>;
  readonly settings?: Partial<WorkerSettings>;
  /** Middlewares of the worker's owner in addition to the shipped ones. Default: none. */
  readonly middlewares?: readonly Middleware[];
  /** Tools of the worker's owner in addition to the shipped ones. Default: none. */
  readonly tools?: readonly GrantableTool[];
  /** MCP servers, which the stage closes. Default: none. */
  readonly mcp?: McpServers;
  /** Default: no agent can be granted commands. */
  readonly commands?: Commands;
  /** The worker's own secrets. Default: none. */
  readonly secrets?: readonly string[];
  readonly shutdownGraceMs?: number;
  /** Worker deployment of the workers, whose version no one makes current. Default: workers without a version. */
  readonly deploymentName?: string;
  /** Number of workflows that the worker keeps in memory. If undefined, the SDK's default. */
  readonly maxCachedWorkflows?: number;
  /** Part of the machine's memory up to which the worker takes work. If undefined, its slots are fixed. */
  readonly memoryTarget?: number;
  /**
   * True when the first attempt at each activity is lost after its work: the server never learns what came of it, and
   * the next attempt begins at once. Default false.
   */
  readonly losesAttempts?: boolean;
  /** Activities whose first call fails for good, each with the type of its failure. Default: none. */
  readonly failsOnce?: Readonly<Record<string, FailureType>> | undefined;
  /** Activities whose first calls report their results at the same time, each with the number of calls. Default: none. */
  readonly reportsTogether?: Readonly<Record<string, number>> | undefined;
  /**
   * True when the stage opens with a worker. Default true. The server remembers pollers for minutes, so stopping one at
   * once is no replacement.
   */
  readonly opensWithWorker?: boolean;
}

export type WorkflowType = keyof typeof workflowTypes;

/**
 * Everything a run needs, without fakes: a Temporal server, the rehearsal model over HTTP, and a worker of its own
 * queue.
 */
export interface Stage {
  readonly client: Client;
  readonly rehearsal: RehearsalServer;
  readonly home: string;
  readonly taskQueue: string;
  readonly address: string;
  /** Workflow ids of everything that was started here. */
  readonly started: readonly string[];
  /** @param priority Options of the start command, which the input does not hold. Default: none. */
  start(
    type: WorkflowType,
    input: unknown,
    workflowId?: string,
    priority?: Priority,
  ): Promise<WorkflowHandle>;
  /** Ends the worker as SIGTERM would; `startWorker` starts another. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /** Returns the number of workflows in the worker's memory. */
  cachedWorkflows(): number;
  result(handle: WorkflowHandle): Promise<PlannerRunResult>;
  status(handle: WorkflowHandle): Promise<StatusView>;
  questions(handle: WorkflowHandle): Promise<QuestionsView>;
  close(): Promise<void>;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  quietRuntime();
  const { address, taskQueue } = placeOf(options);
  const home = mkdtempSync(join(tmpdir(), 'planwave-home-'));
  const { rehearsal, closeModel } = await openModel(options);
  const connection = await Connection.connect({ address, connectTimeout: '1 minute' });
  const nativeConnection = await NativeConnection.connect({ address });
  const client = new Client({ connection, interceptors: { workflow: [asksAgain] } });
  const workers = createWorkers(nativeConnection, taskQueue, options, {
    home,
    apiKey: 'rehearsal',
    baseUrl: rehearsal.url,
    defaultModel: 'rehearsal',
    isRehearsal: true,
    ...options.settings,
  });
  const started: string[] = [];
  if (options.opensWithWorker ?? true) await workers.start();
  return {
    client,
    rehearsal,
    home,
    taskQueue,
    address,
    started,
    start(type, input, workflowId = `run-${randomUUID().slice(0, 8)}`, priority = {}) {
      started.push(workflowId);
      return client.workflow.start(type, { taskQueue, workflowId, args: [input], priority });
    },
    startWorker: () => workers.start(),
    stopWorker: () => workers.stop(),
    cachedWorkflows: () => workers.cachedWorkflows(),
    async result(handle) {
      const result: PlannerRunResult = await handle.result();
      return result;
    },
    status: (handle) => handle.query<StatusView>('status'),
    questions: (handle) => handle.query<QuestionsView>('questions'),
    async close() {
      await workers.stop();
      await options.mcp?.close();
      await closeModel();
      await nativeConnection.close();
      await connection.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * Asks a query again while the worker is not able to answer: a busy machine may not replay a whole history in the time
 * that the server gives a query, and a workflow task that is done again fails the queries that came with it.
 */
const asksAgain: WorkflowClientInterceptor = {
  async query(input, next) {
    const endsAt = Date.now() + 120_000;
    for (;;) {
      try {
        // One attempt after the other.
        // oxlint-disable-next-line no-await-in-loop
        return await next(input);
      } catch (error) {
        if (!isTransient(error) || Date.now() > endsAt) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop
      await sleep(250);
    }
  },
};

/** Codes for a query that no worker answered in time, or that none can answer at the moment. */
const transientCodes: ReadonlySet<number | undefined> = new Set([
  grpcCodes.deadlineExceeded,
  grpcCodes.failedPrecondition,
  grpcCodes.resourceExhausted,
]);

function isTransient(error: unknown): boolean {
  // A query that fails in the worker throws the class of an unknown query, with another message.
  return error instanceof QueryNotRegisteredError
    ? !error.message.includes('did not register a handler')
    : transientCodes.has(grpcCodeOf(error));
}

function placeOf({ beside, address }: StageOptions): Pick<Stage, 'address' | 'taskQueue'> {
  if (beside !== undefined) return beside;
  const taskQueue = `test-${randomUUID().slice(0, 8)}`;
  return { address: address ?? sharedServer().address, taskQueue };
}

/** Opens the model of a stage. One that is beside another uses the model of that one, which closes it. */
async function openModel({ beside, thinkMs = 5, script = [] }: StageOptions): Promise<{
  readonly rehearsal: RehearsalServer;
  readonly closeModel: () => Promise<void>;
}> {
  if (beside !== undefined) return { rehearsal: beside.rehearsal, closeModel: async () => {} };
  const rehearsal = await startRehearsalServer({ port: 0, thinkMs, scriptable: true });
  rehearsal.script(script);
  return { rehearsal, closeModel: () => rehearsal.close() };
}

function createWorkers(
  connection: NativeConnection,
  taskQueue: string,
  options: StageOptions,
  settings: WorkerSettings,
): { start(): Promise<void>; stop(): Promise<void>; cachedWorkflows(): number } {
  let current: { worker: ProcessWorker; running: Promise<void> } | null = null;
  return {
    async start() {
      const redactor = createRedactor({ secrets: options.secrets ?? [] });
      const stores = openStores(settings);
      const fault = await stores.open();
      if (fault !== null) throw new Error(fault);
      const activities = createActivities(
        settings,
        redactor,
        { retryBaseMs: 50, heartbeatEveryMs: 200, ...options.times },
        undefined,
        options.middlewares,
        options.commands,
        options.tools,
        options.mcp,
        stores,
      );
      const failing = failOnce(
        reportTogether(activities, options.reportsTogether ?? {}),
        options.failsOnce ?? {},
      );
      const worker = await createWorker({
        connection,
        namespace: 'default',
        workflowBundle: sharedBundle(),
        taskQueue,
        models: settings.models,
        memoryTarget: options.memoryTarget,
        redactor,
        activities: options.losesAttempts === true ? loseAttempts(activities) : failing,
        shutdownGraceMs: options.shutdownGraceMs ?? 2_000,
        maxCachedWorkflows: options.maxCachedWorkflows,
        deploymentName: options.deploymentName,
        identifyStore: stores.identify,
        identity: nameWorker(`${process.pid}@${hostname()}`, await stores.identify()),
      });
      current = { worker, running: worker.run() };
    },
    cachedWorkflows: () => current?.worker.getStatus().numCachedWorkflows ?? 0,
    async stop() {
      if (current === null) return;
      const { worker, running } = current;
      current = null;
      worker.shutdown();
      await running;
    },
  };
}
