/** Package `planwave/worker`: a worker in the user's process. */
import { delimiter, resolve } from 'node:path';
import type { Middleware } from '../activities/ports/middleware.ts';
import type { OwnTool } from '../activities/tools/own-tool.ts';
import { loadServerConfig } from '../client/connect.ts';
import { registerSearchAttributes } from '../scripts/dev-server/server-arguments.ts';
import { checkOptions } from './define-agent.ts';
import { runWorker, type ReadyWorker } from '../worker/main.ts';
import { definedOnly } from '../core/json.ts';

export { BadSettings } from '../worker/worker-settings.ts';
export type { Middleware } from '../activities/ports/middleware.ts';
export type { ReadyWorker } from '../worker/main.ts';

export interface WorkerOptions {
  /** Tools of `defineTool` that agents may be granted, besides the shipped ones. */
  readonly tools?: readonly OwnTool[];
  /** Middlewares and guardrails that teams may name (docs/middlewares.md), besides the shipped ones. */
  readonly middlewares?: readonly Middleware[];
  /**
   * Folders with agents that runs may name, besides those of `defineAgent`. Default: `PLANWAVE_AGENTS`, else the current folder and
   * the home.
   */
  readonly agents?: readonly string[];
  /** Default: `PLANWAVE_HOME`, else `.planning` in the current folder. */
  readonly home?: string;
  /** `host:port`. Default: `TEMPORAL_ADDRESS`, else Temporal's configuration file, else `localhost:7233`. */
  readonly address?: string;
  /** Default: `TEMPORAL_NAMESPACE`, else that of the configuration file, else `default`. */
  readonly namespace?: string;
  /** Default: `PLANWAVE_TASK_QUEUE`, else `planwave`. */
  readonly taskQueue?: string;
  /** Called when the worker polls. */
  readonly onReady?: (worker: ReadyWorker) => void;
  /** Variables that replace those of this process for the worker: model, TLS, keys, limits (docs/configuration.md). */
  readonly env?: Readonly<Record<string, string>>;
}

const optionNames = [
  'tools',
  'middlewares',
  'agents',
  'home',
  'address',
  'namespace',
  'taskQueue',
  'onReady',
  'env',
] as const satisfies readonly (keyof WorkerOptions)[];

export interface PlanwaveWorker {
  /**
   * Registers missing search attributes on the server, then polls until `shutdown`.
   *
   * @throws {BadSettings} when a setting is missing or wrong
   */
  run(): Promise<void>;
  /** Lets calls in flight finish; then `run` ends. */
  shutdown(): void;
}

/**
 * Creates a worker in this process. One process has one worker. Its log and its limits are settings of the environment.
 * The watchdog, which ends a process whose event loop stands still, is off unless `PLANWAVE_BLOCKED_SECONDS` is set.
 *
 * @throws {TypeError} that names an unknown option
 */
export function createWorker(options: WorkerOptions = {}): PlanwaveWorker {
  checkOptions('createWorker', options, optionNames);
  const ending = new AbortController();
  const env = environmentOf(options);
  return {
    shutdown: () => ending.abort(),
    async run() {
      await registerSearchAttributes(loadServerConfig({ env }).address, env);
      await runWorker({
        signal: ending.signal,
        onReady: options.onReady ?? (() => {}),
        env,
        tools: options.tools ?? [],
        middlewares: options.middlewares ?? [],
        redactsOutput: false,
      });
    },
  };
}

function environmentOf({
  agents,
  home,
  address,
  namespace,
  taskQueue,
  env,
}: WorkerOptions): NodeJS.ProcessEnv {
  return {
    PLANWAVE_BLOCKED_SECONDS: '0',
    ...process.env,
    ...(agents && { PLANWAVE_AGENTS: agents.map((folder) => resolve(folder)).join(delimiter) }),
    ...definedOnly({
      PLANWAVE_HOME: home,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      PLANWAVE_TASK_QUEUE: taskQueue,
    }),
    ...env,
  };
}
