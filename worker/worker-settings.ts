import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { taskQueue } from '../contracts/names.ts';
import type { LogSettings } from './create-logger.ts';

/** The model of agents that name none, with a real provider. */
const realModel = 'claude-sonnet-5-5';

/** The key that selects the rehearsal model, which checks no key. */
const rehearsalKey = 'rehearsal';

/** Settings of a worker. */
export interface WorkerSettings {
  /** `PLANWAVE_HOME` as an absolute path; default `.planning` in the current folder. */
  readonly home: string;
  readonly apiKey: string;
  /** If undefined, Anthropic's own server. */
  readonly baseUrl: string | undefined;
  /** `PLANWAVE_MODEL`, the model of agents that name none. */
  readonly defaultModel: string;
  /** True when the rehearsal model answers for every model, at no cost. */
  readonly isRehearsal: boolean;
  /** `PLANWAVE_THREADS_URL`, a PostgreSQL database for the threads of teams. If undefined, a file in `home`. */
  readonly threadsUrl?: string | undefined;
}

/** Settings of a worker process. */
export interface WorkerProcessSettings extends WorkerSettings {
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
  /** `TEMPORAL_WORKER_BUILD_ID`. If undefined, computed from code, prompts and agents. */
  readonly buildId: string | undefined;
  /**
   * `PLANWAVE_MIDDLEWARES` as an absolute path: a module with the owner's middlewares. If undefined, only the shipped
   * ones.
   */
  readonly middlewaresFile: string | undefined;
  /**
   * `PLANWAVE_METRICS_ADDRESS`, `host:port`: the address of `/metrics` for Prometheus. If undefined, nothing listens.
   */
  readonly metricsAddress: string | undefined;
  /** True when `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
  readonly traced: boolean;
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

const logLevels: Readonly<Record<string, LogSettings['level'] | undefined>> = {
  error: 'ERROR',
  warn: 'WARN',
  info: 'INFO',
  debug: 'DEBUG',
};

/** Expected values, worded without any value that may be a secret or part of an address. */
const expectations = {
  ANTHROPIC_API_KEY: [
    isPrintable,
    'a key without spaces and line breaks. It is not shown here. Try: look for a stray blank or quote around it.',
  ],
  ANTHROPIC_BASE_URL: [isWebAddress, 'http:// or https:// and a host. Try: http://127.0.0.1:8787'],
  PLANWAVE_MODEL: [isPrintable, 'the name of a model, in one word. Try: claude-sonnet-5-5'],
  PLANWAVE_THREADS_URL: [
    isPostgresAddress,
    'postgresql://, a host and a database. It is not shown here, because it may hold a password. ' +
      'Try: postgresql://planwave@127.0.0.1:5432/planwave, or leave it empty for a file in PLANWAVE_HOME',
  ],
  PLANWAVE_TASK_QUEUE: [isPrintable, 'a name in one word. Try: planwave'],
  PLANWAVE_WORKER_GRACE_SECONDS: [isGrace, 'a whole number of seconds from 1 to 120. Try: 100'],
  PLANWAVE_BLOCKED_SECONDS: [
    isBlockedLimit,
    'a whole number of seconds from 2 to 600, or 0 for no watchdog. Try: 30',
  ],
  PLANWAVE_MIDDLEWARES: [isModulePath, 'the path of an ES module. Try: ./middlewares.mjs'],
  PLANWAVE_METRICS_ADDRESS: [
    isListenAddress,
    'an IP address of this machine and a port. Try: 127.0.0.1:9464, or 0.0.0.0:9464 for all networks',
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    isWebAddress,
    'the http:// or https:// address of an OpenTelemetry collector. Try: http://127.0.0.1:4318',
  ],
  PLANWAVE_LOG: [isLogFormat, 'text or json. Try: json'],
  PLANWAVE_LOG_LEVEL: [isLogLevel, 'error, warn, info or debug. Try: info'],
  TEMPORAL_DEPLOYMENT_NAME: [
    isDeploymentName,
    'letters, digits, "-", "_" and "/", without "__" in front. Try: planwave',
  ],
  TEMPORAL_WORKER_BUILD_ID: [
    isBuildId,
    'letters, digits and ".", "_", "-", "+", "@", "/". Try: 0.1.0+a1b2c3d, or leave it empty',
  ],
} as const satisfies Record<string, readonly [(text: string) => boolean, string]>;

/** @throws {BadSettings} when both the key and the address of a server are missing, and when a variable is wrong. */
export function readWorkerSettings(env: NodeJS.ProcessEnv): WorkerProcessSettings {
  const faults = Object.entries(expectations).flatMap(([name, [isGood, expected]]) =>
    !env[name] || isGood(env[name]) ? [] : [sayBad(name, expected)],
  );
  if (faults.length > 0) throw new BadSettings(faults.join('\n'));
  const baseUrl = env['ANTHROPIC_BASE_URL'] || undefined;
  const apiKey = env['ANTHROPIC_API_KEY'] || (baseUrl === undefined ? undefined : 'none');
  if (apiKey === undefined) {
    throw new BadSettings(
      'No model: ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are both empty.\n' +
        'Try: export ANTHROPIC_API_KEY=…, or `npm run rehearsal` and ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ' +
        'with ANTHROPIC_API_KEY=rehearsal, or `npm run dev`, which starts everything.',
    );
  }
  const isRehearsal = apiKey === rehearsalKey;
  return {
    home: resolve(env['PLANWAVE_HOME'] || '.planning'),
    apiKey,
    baseUrl,
    defaultModel: env['PLANWAVE_MODEL'] || (isRehearsal ? 'rehearsal' : realModel),
    isRehearsal,
    threadsUrl: readThreadsUrl(env),
    taskQueue: env['PLANWAVE_TASK_QUEUE'] || taskQueue,
    middlewaresFile: readMiddlewaresFile(env),
    shutdownGraceMs: Number(env['PLANWAVE_WORKER_GRACE_SECONDS'] || 100) * 1_000,
    blockedSecondsMax: Number(env['PLANWAVE_BLOCKED_SECONDS'] || 30),
    ...readVersion(env),
    ...readTelemetry(env),
  };
}

/**
 * Returns `PLANWAVE_MIDDLEWARES` as an absolute path; undefined when it is not set.
 *
 * @throws {BadSettings} when it can't be a module's path.
 */
export function readMiddlewaresFile(env: NodeJS.ProcessEnv): string | undefined {
  const path = readOne(env, 'PLANWAVE_MIDDLEWARES');
  return path === undefined ? undefined : resolve(path);
}

/**
 * Returns `PLANWAVE_THREADS_URL`; undefined when it is not set.
 *
 * @throws {BadSettings} when it can't be the address of a PostgreSQL database.
 */
export function readThreadsUrl(env: NodeJS.ProcessEnv): string | undefined {
  return readOne(env, 'PLANWAVE_THREADS_URL');
}

function readOne(env: NodeJS.ProcessEnv, name: keyof typeof expectations): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const [isGood, expected] = expectations[name];
  if (!isGood(text)) throw new BadSettings(sayBad(name, expected));
  return text;
}

function sayBad(name: string, expected: string): string {
  return `${name} can't be used: expected ${expected}`;
}

function readVersion(
  env: NodeJS.ProcessEnv,
): Pick<WorkerProcessSettings, 'deploymentName' | 'buildId'> {
  return {
    deploymentName: env['TEMPORAL_DEPLOYMENT_NAME'] || undefined,
    buildId: env['TEMPORAL_WORKER_BUILD_ID'] || undefined,
  };
}

/** Returns true when spans have a destination. */
export function isTraced(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
}

function readTelemetry(
  env: NodeJS.ProcessEnv,
): Pick<WorkerProcessSettings, 'metricsAddress' | 'traced' | 'log'> {
  return {
    traced: isTraced(env),
    metricsAddress: env['PLANWAVE_METRICS_ADDRESS'] || undefined,
    log: {
      format: env['PLANWAVE_LOG'] === 'json' ? 'json' : 'text',
      level: logLevels[env['PLANWAVE_LOG_LEVEL'] || 'warn'] ?? 'WARN',
    },
  };
}

/** Accepts printable ASCII in one word: any other value breaks the header or the name that contains it. */
function isPrintable(text: string): boolean {
  return /^[\u0021-\u007e]{1,1000}$/.test(text);
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isModulePath(text: string): boolean {
  return /^[^\p{Cc}]{1,4000}\.m?[jt]s$/u.test(text);
}

/** Accepts an address without a host, for a socket: `postgresql:///planwave?host=/var/run/postgresql`. */
function isPostgresAddress(text: string): boolean {
  return URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol);
}

function isGrace(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 120;
}

function isBlockedLimit(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) !== 1 && Number(text) <= 600;
}

function isLogFormat(text: string): boolean {
  return text === 'text' || text === 'json';
}

function isLogLevel(text: string): boolean {
  return Object.hasOwn(logLevels, text);
}

/** Accepts addresses that the exporter can listen on: it resolves no names. */
function isListenAddress(text: string): boolean {
  const [, host = '', port = ''] = /^\[?([\d.]+|[\da-fA-F:]+)\]?:(\d{1,5})$/.exec(text) ?? [];
  const isBracketed = text.startsWith('[') && text.includes(']');
  const isHost = isIP(host) === (isBracketed ? 6 : 4);
  return isHost && Number(port) >= 1 && Number(port) <= 65_535;
}

/**
 * Accepts valid names only: the server accepts a name with "." or ":" or a leading "__", but the worker would then poll
 * in vain.
 */
function isDeploymentName(text: string): boolean {
  return /^(?!__)[\w/-]{1,200}$/.test(text);
}

/** Accepts ids that need no quotes in commands and search attributes. */
function isBuildId(text: string): boolean {
  return /^[\w.+@/-]{1,200}$/.test(text);
}
