import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { searchAttributes } from '../../contracts/names.ts';
import { badSettingsExitCode, ExpectedError, messageOf } from '../bootstrap/expected-error.mjs';
import { isPreferred } from '../bootstrap/temporal-cli-cache.mjs';
import type { Settings } from '../parts/settings.ts';
import { connectFailure, loadServerConfig } from '../../client/connect.ts';
import { connectTo, namespaceOf } from './temporal-probe.ts';

/** Numbers of the wire format (temporal.api.enums.v1.IndexedValueType). */
const wireTypes = { Keyword: 2, Int: 3, Double: 4, Datetime: 6 } as const;

/** Milliseconds until a missing server is reported: no user should wait 10 s plus the start of the process. */
const connectTimeoutMs = 5_000;

type AttributeName = keyof typeof searchAttributes;

const attributeNames = Object.keys(searchAttributes).filter(
  (name): name is AttributeName => name in searchAttributes,
);

/**
 * Registers missing search attributes of planwave's runs on a running server.
 *
 * @param env Namespace, TLS and API key. Default: those of this process.
 * @returns the names that were registered
 * @throws {ExpectedError} when the server refuses, or knows one of the names with another type
 */
export async function registerSearchAttributes(
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string[]> {
  const connection = await connectOrExplain(address, env);
  const namespace = namespaceOf(env);
  try {
    const { customAttributes: known } = await connection.operatorService.listSearchAttributes({
      namespace,
    });
    const clash = attributeNames.find((name) => {
      const type: number | undefined = known[name];
      return type !== undefined && type !== wireTypes[searchAttributes[name]];
    });
    if (clash !== undefined) throw new ExpectedError(clashMessage(address, namespace, clash));
    const missing = attributeNames.filter((name) => known[name] === undefined);
    if (missing.length === 0) return [];
    const types = missing.map((name) => [name, wireTypes[searchAttributes[name]]] as const);
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(types),
    });
    await untilKnown(connection, namespace, missing);
    return missing;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(refusalMessage(address, namespace, error));
  } finally {
    await connection.close();
  }
}

/** Milliseconds until the parts of a server know a new name; servers before 1.27 need 10 s. */
const refreshMs = 2_000;
const knownMsMax = 30_000;

/**
 * Waits until the server accepts new search attributes. It lists them at once, but each of its parts reads them anew only every few
 * seconds, and refuses runs and workflow tasks with a name that it does not know. The first part tells how long that takes.
 */
async function untilKnown(
  { workflowService }: Connection,
  namespace: string,
  names: readonly AttributeName[],
): Promise<void> {
  const query = names.map((name) => `${name} IS NULL`).join(' AND ');
  const isKnown = (): Promise<boolean> =>
    workflowService.countWorkflowExecutions({ namespace, query }).then(
      () => true,
      () => false,
    );
  // The embedded server reads them with each call.
  if (await isKnown()) return;
  const sinceMs = performance.now();
  const takenMs = (): number => performance.now() - sinceMs;
  while (takenMs() < knownMsMax && !(await isKnown())) await sleep(200);
  await sleep(Math.max(refreshMs, takenMs()));
}

async function connectOrExplain(address: string, env: NodeJS.ProcessEnv): Promise<Connection> {
  try {
    return await connectTo(address, connectTimeoutMs, env);
  } catch (error) {
    if (error instanceof TypeError) {
      const text = `The Temporal address "${address}" can't be used: ${messageOf(error)}.\nTry: TEMPORAL_ADDRESS=host:7233`;
      throw new ExpectedError(text, badSettingsExitCode);
    }
    throw new ExpectedError(
      (await connectFailure(loadServerConfig({ address, env }), error)).message,
    );
  }
}

function clashMessage(address: string, namespace: string, name: AttributeName): string {
  return (
    `The Temporal server at ${address} knows the search attribute ${name} with another type than planwave's ` +
    `${searchAttributes[name]} (namespace ${namespace}).\nTry another namespace (TEMPORAL_NAMESPACE) or another server.`
  );
}

function refusalMessage(address: string, namespace: string, error: unknown): string {
  const commands = attributeNames.map(
    (name) =>
      `  temporal operator search-attribute create --address ${address} --namespace ${namespace} ` +
      `--name ${name} --type ${searchAttributes[name]}`,
  );
  return [
    `The Temporal server at ${address} did not register planwave's search attributes: ${messageOf(error)}`,
    'An operator of the server has to run, for each one that is missing:',
    ...commands,
  ].join('\n');
}

export interface ServerCli {
  readonly path: string;
  /** Version such as `1.9.1`. */
  readonly version: string;
}

/** Returns the path of the embedded server's database with every workflow of this home. */
export function dbFileOf(settings: Pick<Settings, 'home'>): string {
  return join(settings.home, 'temporal', 'dev.db');
}

/** Returns the command line of the embedded server, without the executable. */
export function serverArguments(cli: ServerCli, settings: Settings): string[] {
  const options = [
    `--db-filename=${dbFileOf(settings)}`,
    `--port=${settings.temporalPort}`,
    ...(settings.webUi ? [`--ui-port=${settings.uiPort}`] : ['--headless']),
    '--log-level=warn',
    ...dynamicConfig(cli).map((value) => `--dynamic-config-value=${value}`),
    // Write-ahead log: one file sync per step instead of several. FULL: a recorded step survives a power cut.
    '--sqlite-pragma=journal_mode=WAL',
    '--sqlite-pragma=synchronous=FULL',
    ...attributeNames.map((name) => `--search-attribute=${name}=${searchAttributes[name]}`),
  ];
  return ['server', 'start-dev', ...options];
}

function dynamicConfig(cli: ServerCli): string[] {
  // The default of 20 polls a second makes every durable step wait up to 50 ms.
  const always = [
    'history.transferProcessorMaxPollRPS=2000',
    // Timers, timeouts and back-offs fire when they are due, not up to a second later.
    'history.timerProcessorMaxTimeShift="20ms"',
    // A workflow that does not fit its worker's code appears in every list after two failed tasks, not five (half a
    // minute).
    'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2',
    // The server opens an HTTP API on a random port, which any web page could use without asking. No host has this name.
    'frontend.httpAllowedHosts=["planwave.invalid"]',
  ];
  if (isPreferred(cli.version)) return always;
  // Older servers have this off; without it every activity waits for another round trip.
  return [...always, 'system.enableActivityEagerExecution=true'];
}
