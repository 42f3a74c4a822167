import { resolve, dirname, join } from 'node:path';
import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { setVariables } from '../../core/json.ts';
import {
  badSettingsExitCode,
  ExpectedError,
  messageOf,
  errorCode,
} from '../bootstrap/expected-error.mjs';

/** Addresses and folders of planwave's parts, from the environment and Temporal's configuration file. */
export interface Settings {
  /** `PLANWAVE_HOME` as an absolute path; default `.planning` in the current folder. */
  readonly home: string;
  /** Set when `TEMPORAL_ADDRESS` or the Temporal configuration file names a server: then none is started. */
  readonly temporalAddressGiven: string | undefined;
  /** `PLANWAVE_TEMPORAL_PORT`, default 7233: the embedded server's gRPC port. */
  readonly temporalPort: number;
  /** `PLANWAVE_UI_PORT`, default 1000 above the gRPC port: 8233. */
  readonly uiPort: number;
  /** False with `PLANWAVE_WEB_UI=off`: the embedded server opens no port for browsers. */
  readonly webUi: boolean;
  /** `PLANWAVE_REHEARSAL_PORT`, default 8787. */
  readonly rehearsalPort: number;
  /** True without `ANTHROPIC_API_KEY` and without `ANTHROPIC_BASE_URL`: no real model can be called. */
  readonly needsRehearsal: boolean;
}

/** Ports between a server and its Web UI, by the Temporal CLI's own rule. */
export const webUiDistance = 1_000;

/**
 * @throws {ExpectedError} when a port is not a number from 1 to 65535, or the Temporal configuration can't be read
 */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const temporalPort = readPort(env, 'PLANWAVE_TEMPORAL_PORT', 7233);
  const above = temporalPort + webUiDistance;
  // Near the highest port there is no room above.
  const uiPortDefault = above <= 65_535 ? above : temporalPort - webUiDistance;
  return {
    home: resolve(env['PLANWAVE_HOME'] || '.planning'),
    temporalAddressGiven: readTemporalAddress(env),
    temporalPort,
    uiPort: readPort(env, 'PLANWAVE_UI_PORT', uiPortDefault),
    webUi: readSwitch(env, 'PLANWAVE_WEB_UI'),
    rehearsalPort: readPort(env, 'PLANWAVE_REHEARSAL_PORT', 8787),
    needsRehearsal: !hasModel(env),
  };
}

/** Tells whether a model is named; without one, the rehearsal model answers. */
export function hasModel(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['ANTHROPIC_API_KEY']) || Boolean(env['ANTHROPIC_BASE_URL']);
}

/** Returns the address for client and worker: the given one, otherwise the embedded server's. */
export function temporalAddressOf(settings: Settings): string {
  return settings.temporalAddressGiven ?? `127.0.0.1:${settings.temporalPort}`;
}

/** Returns the environment of a part that has to find this machine's server and folder. */
export function partEnvironment(
  settings: Settings,
  temporalAddress: string,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  return { ...env, PLANWAVE_HOME: settings.home, TEMPORAL_ADDRESS: temporalAddress };
}

/** @returns true unless it is `off`. */
function readSwitch(env: NodeJS.ProcessEnv, name: string): boolean {
  const text = env[name] ?? '';
  if (text === '' || text === 'on') return true;
  if (text === 'off') return false;
  throw new ExpectedError(`${name}=${text} is neither on nor off.`, badSettingsExitCode);
}

function readPort(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new ExpectedError(
    `${name}=${text} is not a port. Try a number from 1 to 65535.`,
    badSettingsExitCode,
  );
}

function readTemporalAddress(env: NodeJS.ProcessEnv): string | undefined {
  try {
    const config = loadClientConnectConfig({ overrideEnvVars: setVariables(env) });
    return config.connectionOptions.address ?? undefined;
  } catch (error) {
    throw new ExpectedError(
      `The Temporal configuration can't be read: ${messageOf(error)}`,
      badSettingsExitCode,
    );
  }
}

/** Bytes of the trial: on a disk with less room the server's next transaction fails. */
const trialBytes = 1_000_000;

/** Reason why nothing can be written to a folder, and what to do. */
export interface FolderFault {
  readonly detail: string;
  readonly cure: string;
}

/** @returns the fault in one line, or undefined when the folder can be written; creates it if it is missing */
export function describeFolderFault(folder: string): string | undefined {
  const fault = findFolderFault(folder);
  return fault && `${fault.detail}. Try: ${fault.cure}.`;
}

/** @returns undefined when the folder can be written; creates it if it is missing */
export function findFolderFault(folder: string): FolderFault | undefined {
  const trial = join(folder, `.trial-${process.pid}`);
  try {
    // Node reports a missing folder where it could not create one on a read-only disk.
    accessSync(nearestExisting(folder), constants.W_OK);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(trial, Buffer.alloc(trialBytes));
    return undefined;
  } catch (error) {
    const { cause, cure } = causes[errorCode(error) ?? ''] ?? unknown(error);
    return {
      detail: `${folder} can't be written: ${cause}`,
      cure: `${cure}, or set PLANWAVE_HOME to another folder`,
    };
  } finally {
    removeQuietly(trial);
  }
}

interface Cause {
  readonly cause: string;
  readonly cure: string;
}

const full: Cause = { cause: 'its disk is full', cure: 'free some disk space' };
const refused: Cause = {
  cause: 'this user has no permission',
  cure: 'change its owner or its permissions',
};
const blocked: Cause = {
  cause: 'a file is in its place or above it',
  cure: 'move that file away',
};

const causes: Readonly<Record<string, Cause>> = {
  EROFS: { cause: 'its file system is read-only', cure: 'mount it writable' },
  ENOSPC: full,
  EDQUOT: full,
  EACCES: refused,
  EPERM: refused,
  ENOTDIR: blocked,
  EEXIST: blocked,
};

function unknown(error: unknown): Cause {
  return { cause: messageOf(error), cure: 'remove the cause' };
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The fault that is reported already.
  }
}
