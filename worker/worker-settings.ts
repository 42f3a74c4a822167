import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { definedAgentsFolder, taskQueue } from '../contracts/names.ts';
import {
  modelQueueVariables,
  toModelQueueSettings,
  type ModelQueueSettings,
  findStoreFault,
  isTraced,
  storeVariables,
  toStoreSettings,
  type StoreSettings,
  toolVariables,
  toToolSettings,
  type ToolSettings,
  toWebSettings,
  webVariables,
  type WebSettings,
} from './part-settings.ts';
import { resolveModelName } from '../activities/adapters/agent-file/parse-agent-file.ts';
import type { NotifyTarget } from '../activities/adapters/notifier.ts';
import { findNotifyFault, notifyVariables, toNotifyTarget } from './notify-settings.ts';
import { deploymentVariables } from './describe-deployment.ts';
import { commandVariables, toCommandSettings, type CommandSettings } from './open-commands.ts';
import { address, folders, isListenAddress, oneWord, wholeNumber } from './setting-shapes.ts';
import { setVariables } from '../core/json.ts';
import { entryPoints } from '../core/text/entry-points.ts';
import type { LogSettings } from './create-logger.ts';

export const shippedAgentsDir = fileURLToPath(new URL('../agents', import.meta.url));

/** The model of agents that name none, with a real provider. */
const realModel = 'claude-sonnet-5-5';

/** The key that selects the rehearsal model, which checks no key. */
const rehearsalKey = 'rehearsal';

export interface WorkerSettings extends Partial<StoreSettings> {
  /** `PLANWAVE_HOME` as an absolute path; default `.planning` in the current folder. */
  readonly home: string;
  readonly apiKey: string;
  /** Default: Anthropic's own server. */
  readonly baseUrl: string | undefined;
  /** `PLANWAVE_MODEL`, the model of agents that name none. */
  readonly defaultModel: string;
  /** True when the rehearsal model answers for every model, at no cost. */
  readonly isRehearsal: boolean;
  /**
   * `PLANWAVE_APPROVERS`, names separated by commas: those who may decide what lets a run act or spend. If undefined,
   * everyone who can send a message.
   */
  readonly approvers?: readonly string[] | undefined;
  /**
   * `PLANWAVE_WORKSPACES`, absolute paths: a run may name one of these folders, or one below, as its workspace. Default:
   * the folder that the worker starts in, and `home`. If undefined, any folder.
   */
  readonly workspaceRoots?: readonly string[] | undefined;
  /** `PLANWAVE_AGENTS`: the same for folders with agents. The shipped ones, and those in code of this home, are always allowed. */
  readonly agentRoots?: readonly string[] | undefined;
  /** Default: model calls wait in the queue of their run. */
  readonly models?: ModelQueueSettings | undefined;
  /** Default: the shipped tools, and trusted workspaces. */
  readonly tools?: ToolSettings | undefined;
  /** Default: the web is reached. */
  readonly web?: WebSettings | undefined;
  /** `PLANWAVE_NOTIFY` with its secret. Default: no person is told. */
  readonly notify?: NotifyTarget | undefined;
}

export interface WorkerProcessSettings extends WorkerSettings {
  readonly keys: StoreSettings['keys'];
  /** `PLANWAVE_TASK_QUEUE`, default `planwave`. The client needs the same value. */
  readonly taskQueue: string;
  /**
   * `PLANWAVE_WORKER_GRACE_SECONDS`, default 100, in milliseconds: the time that calls in flight may take after
   * SIGTERM. A process manager must wait longer before it kills the process.
   */
  readonly shutdownGraceMs: number;
  /**
   * `TEMPORAL_DEPLOYMENT_NAME`: the worker deployment that this worker is a version of. If undefined, no worker
   * versioning, which suits a single worker for everything.
   */
  readonly deploymentName: string | undefined;
  /** `PLANWAVE_WORKER_MEMORY`, a percentage, as a fraction. If undefined, slots are fixed. */
  readonly memoryTarget: number | undefined;
  /** `TEMPORAL_WORKER_BUILD_ID`. If undefined, computed from code, prompts and agents. */
  readonly buildId: string | undefined;
  /** `PLANWAVE_MIDDLEWARES` as an absolute path: the owner's module. If undefined, only the shipped middlewares. */
  readonly middlewaresFile: string | undefined;
  /** `PLANWAVE_METRICS_ADDRESS`, `host:port`: the address of `/metrics` for Prometheus. If undefined, nothing listens. */
  readonly metricsAddress: string | undefined;
  /** True when `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
  readonly traced: boolean;
  readonly commands: CommandSettings;
  readonly tools: ToolSettings;
  /**
   * `PLANWAVE_BLOCKED_SECONDS`, default 30: the time that the event loop may stand still before the watchdog ends the
   * process. 0 means no limit.
   */
  readonly blockedSecondsMax: number;
  /** Default: text, warnings and above. */
  readonly log: LogSettings;
}

/** A setting is missing or wrong; the message names it, and says what to do. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings';
}

const logLevels = { error: 'ERROR', warn: 'WARN', info: 'INFO', debug: 'DEBUG' } as const;

/**
 * The variables, each with what is expected of it. No message holds a value: it may be a secret, or an address that
 * carries one.
 */
const Variables = z.object({
  ANTHROPIC_API_KEY: oneWord(
    'a key without spaces and line breaks. It is not shown here. Try: look for a stray blank or quote around it.',
  ).optional(),
  ANTHROPIC_BASE_URL: address(
    /^https?$/,
    'http:// or https:// and a host. Try: http://127.0.0.1:8787',
  ).optional(),
  PLANWAVE_HOME: z.string().default('.planning'),
  PLANWAVE_MODEL: oneWord('the name of a model, in one word. Try: claude-sonnet-5-5')
    .refine((name) => resolveModelName(name) !== null, 'a model: inherit means this one. Try: opus')
    .transform((name) => resolveModelName(name) ?? name)
    .optional(),
  PLANWAVE_WORKSPACES: folders().optional(),
  PLANWAVE_AGENTS: folders().optional(),
  PLANWAVE_APPROVERS: z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .refine(
      (names) => names.every((name) => name !== '' && name.length <= 120),
      'names of at most 120 characters, separated by commas. Try: Ana, Bo',
    )
    .optional(),
  ...storeVariables,
  PLANWAVE_TASK_QUEUE: oneWord('a name in one word. Try: planwave').default(taskQueue),
  PLANWAVE_WORKER_GRACE_SECONDS: wholeNumber(
    (count) => count >= 1 && count <= 120,
    'a whole number of seconds from 1 to 120. Try: 100',
  ).default(100),
  PLANWAVE_WORKER_MEMORY: wholeNumber(
    (percent) => percent >= 10 && percent <= 99,
    'a percentage of the memory from 10 to 99. Try: 80',
  )
    .transform((percent) => percent / 100)
    .optional(),
  PLANWAVE_BLOCKED_SECONDS: wholeNumber(
    (count) => count !== 1 && count <= 600,
    'a whole number of seconds from 2 to 600, or 0 for no watchdog. Try: 30',
  ).default(30),
  PLANWAVE_MIDDLEWARES: z
    .string()
    .regex(/^[^\p{Cc}]{1,4000}\.m?[jt]s$/u, 'the path of an ES module. Try: ./middlewares.mjs')
    .transform((path) => resolve(path))
    .optional(),
  PLANWAVE_METRICS_ADDRESS: z
    .string()
    .refine(
      isListenAddress,
      'an IP address of this machine and a port. Try: 127.0.0.1:9464, or 0.0.0.0:9464 for all networks',
    )
    .optional(),
  ...modelQueueVariables,
  ...commandVariables,
  ...toolVariables,
  ...webVariables,
  ...notifyVariables,
  OTEL_EXPORTER_OTLP_ENDPOINT: address(
    /^https?$/,
    'the http:// or https:// address of an OpenTelemetry collector. Try: http://127.0.0.1:4318',
  ).optional(),
  PLANWAVE_LOG: z.enum(['text', 'json'], 'text or json. Try: json').default('text'),
  PLANWAVE_LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'debug'], 'error, warn, info or debug. Try: info')
    .default('warn'),
  ...deploymentVariables,
});

/** @throws {BadSettings} when both the key and the address of a server are missing, and when a variable is wrong. */
export function readWorkerSettings(env: NodeJS.ProcessEnv): WorkerProcessSettings {
  const read = readVariables(Variables, env);
  const baseUrl = read.ANTHROPIC_BASE_URL;
  const apiKey = read.ANTHROPIC_API_KEY ?? (baseUrl === undefined ? undefined : 'none');
  if (apiKey === undefined) {
    throw new BadSettings(
      'No model: ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are both empty.\n' +
        `Try: export ANTHROPIC_API_KEY=…, or \`${entryPoints.rehearsal}\` and ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ` +
        `with ANTHROPIC_API_KEY=rehearsal, or \`${entryPoints.dev}\`, which starts everything.`,
    );
  }
  const isRehearsal = apiKey === rehearsalKey;
  return {
    ...foldersOf(read),
    apiKey,
    baseUrl,
    defaultModel: read.PLANWAVE_MODEL ?? (isRehearsal ? 'rehearsal' : realModel),
    isRehearsal,
    ...readStoreSettings(env),
    commands: toCommandSettings(read),
    approvers: read.PLANWAVE_APPROVERS,
    models: toModelQueueSettings(read),
    tools: toToolSettings(read),
    web: toWebSettings(read),
    notify: readNotifyTarget(env),
    taskQueue: read.PLANWAVE_TASK_QUEUE,
    middlewaresFile: read.PLANWAVE_MIDDLEWARES,
    shutdownGraceMs: read.PLANWAVE_WORKER_GRACE_SECONDS * 1_000,
    blockedSecondsMax: read.PLANWAVE_BLOCKED_SECONDS,
    deploymentName: read.TEMPORAL_DEPLOYMENT_NAME,
    memoryTarget: read.PLANWAVE_WORKER_MEMORY,
    buildId: read.TEMPORAL_WORKER_BUILD_ID,
    metricsAddress: read.PLANWAVE_METRICS_ADDRESS,
    traced: isTraced(env),
    log: {
      format: read.PLANWAVE_LOG,
      level: logLevels[read.PLANWAVE_LOG_LEVEL],
      ...(read.PLANWAVE_KEYS.ids.length > 0 && { hidesErrors: true }),
    },
  };
}

/** Returns `PLANWAVE_MIDDLEWARES` as an absolute path; undefined when it is not set. @throws {BadSettings} */
export function readMiddlewaresFile(env: NodeJS.ProcessEnv): string | undefined {
  return readVariables(Variables.pick({ PLANWAVE_MIDDLEWARES: true }), env).PLANWAVE_MIDDLEWARES;
}

/** Reads where and how content is stored. @throws {BadSettings} when a setting is wrong. */
export function readStoreSettings(env: NodeJS.ProcessEnv): StoreSettings {
  const read = readVariables(z.object(storeVariables), env);
  const fault = findStoreFault(read);
  if (fault !== null) throw new BadSettings(fault);
  return toStoreSettings(read);
}

/** Reads `PLANWAVE_KEYS` alone. @throws {BadSettings} when it can't be a key ring. */
export function readKeys(env: NodeJS.ProcessEnv): StoreSettings['keys'] {
  const { PLANWAVE_KEYS } = storeVariables;
  return readVariables(z.object({ PLANWAVE_KEYS }), env).PLANWAVE_KEYS;
}

/** Reads `PLANWAVE_NOTIFY` and its secret; undefined when it is not set. @throws {BadSettings} when they can't be used. */
export function readNotifyTarget(env: NodeJS.ProcessEnv): NotifyTarget | undefined {
  const read = readVariables(z.object(notifyVariables), env);
  const fault = findNotifyFault(read);
  if (fault !== null) throw new BadSettings(fault);
  return toNotifyTarget(read, env);
}

/** Reads the settings of agents' tools, those of the web too. @throws {BadSettings} when one is wrong. */
export function readToolSettings(env: NodeJS.ProcessEnv): ToolSettings & { web: WebSettings } {
  const read = readVariables(z.object({ ...toolVariables, ...webVariables }), env);
  return { ...toToolSettings(read), web: toWebSettings(read) };
}

/** Reads the settings of agents' commands. @throws {BadSettings} when one is wrong. */
export function readCommandSettings(env: NodeJS.ProcessEnv): CommandSettings {
  return toCommandSettings(readVariables(z.object(commandVariables), env));
}

/** Returns the folders that a worker with this environment uses, and those that it lets runs name. */
export function readFolders(env: NodeJS.ProcessEnv): WorkerFolders {
  return foldersOf(readVariables(Variables.pick(folderVariables), env));
}

const folderVariables = {
  PLANWAVE_HOME: true,
  PLANWAVE_WORKSPACES: true,
  PLANWAVE_AGENTS: true,
} as const;

type WorkerFolders = Required<Pick<WorkerSettings, 'home' | 'workspaceRoots' | 'agentRoots'>>;

function foldersOf(
  read: Pick<z.infer<typeof Variables>, keyof typeof folderVariables>,
): WorkerFolders {
  const home = resolve(read.PLANWAVE_HOME);
  const roots = [process.cwd(), home];
  return {
    home,
    workspaceRoots: read.PLANWAVE_WORKSPACES ?? roots,
    agentRoots: read.PLANWAVE_AGENTS?.concat(join(home, definedAgentsFolder)) ?? roots,
  };
}

/** Reads an empty variable like one that is not set, and lists every fault at once. */
function readVariables<T>(shape: z.ZodType<T>, env: NodeJS.ProcessEnv): T {
  const read = shape.safeParse(setVariables(env));
  if (read.success) return read.data;
  const faults = read.error.issues.map(
    ({ path, message }) => `${path.join('.')} can't be used: expected ${message}`,
  );
  throw new BadSettings(faults.join('\n'));
}
