import { ExpectedError } from './bootstrap/expected-error.mjs';
import { ensureTemporal, type TemporalServer } from './dev-server/dev-server.ts';
import { findFreePort, isListening } from './dev-server/temporal-probe.ts';
import { describeFolderFault, partEnvironment, type Settings } from './parts/settings.ts';
import { startNodePart } from './parts/part.ts';
import { type StopSignal, supervise, type Supervised } from './parts/supervise.ts';

/** All parts that one machine needs to plan: server, model and worker, except those that run already. */
export interface Stack {
  readonly temporalAddress: string;
  /** Undefined when the address of the server's Web UI is unknown. */
  readonly uiUrl: string | undefined;
  /** Set when the rehearsal model answers instead of a real one. */
  readonly rehearsalUrl: string | undefined;
  readonly workerLogFile: string;
  /** Settles with the reason when the part died too often. */
  readonly givenUp: Promise<string>;
  /** Stops the worker first, so that it can finish its work, then the model, then the server. */
  stop(): Promise<void>;
  /** Ends everything at once. Recorded work stays. */
  kill(): void;
}

/** Milliseconds that each part may take to end. The worker's exceed its own grace for a model call. */
const graceMs = { worker: 130_000, rehearsal: 5_000, server: 15_000 } as const;

/**
 * Brings up the stack. When one part does not start, the ones before it are stopped.
 *
 * @param environment Default: this process's
 * @throws {ExpectedError} when a part did not start
 */
export async function bringUp(
  settings: Settings,
  say: (line: string) => void,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Stack> {
  const parts: Supervised[] = [];
  const kill = () => {
    for (const part of parts.toReversed()) part.kill();
  };
  try {
    const server = await ensureTemporal({ settings, say });
    if (server.part !== undefined) parts.push(superviseServer(server, say));
    const env = partEnvironment(settings, server.address, environment);
    let rehearsalUrl: string | undefined;
    if (settings.needsRehearsal) {
      const rehearsal = await startRehearsal(settings, env, say);
      parts.push(rehearsal.supervised);
      rehearsalUrl = rehearsal.url;
    }
    const workerEnv = rehearsalUrl === undefined ? env : withRehearsal(env, rehearsalUrl);
    const worker = await startWorker(settings, workerEnv, say);
    parts.push(worker.supervised);
    return {
      temporalAddress: server.address,
      uiUrl: server.uiUrl,
      rehearsalUrl,
      workerLogFile: worker.logFile,
      givenUp: Promise.race(parts.map((part) => part.givenUp)),
      stop: () => stopInOrder(parts, say),
      kill,
    };
  } catch (error) {
    await stopInOrder(parts, say);
    // A part that can write nothing dies of something that hides the cause.
    const fault = describeFolderFault(settings.home);
    throw fault === undefined ? error : new ExpectedError(fault);
  }
}

/** Returns the environment in which the Anthropic SDK calls the rehearsal model, which does not check the key. */
export function withRehearsal(env: NodeJS.ProcessEnv, url: string): NodeJS.ProcessEnv {
  return { ...env, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'rehearsal' };
}

function superviseServer(server: TemporalServer, say: (line: string) => void): Supervised {
  const { part, restart } = server;
  if (part === undefined || restart === undefined) throw new Error('the server is not ours');
  return supervise({ name: 'server', part, restart, say });
}

async function startRehearsal(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<{ supervised: Supervised; url: string }> {
  // Another stack's rehearsal model may hold the usual port.
  const taken = await isListening('127.0.0.1', settings.rehearsalPort);
  // Chosen once: the worker keeps the address, so a restarted model uses the same port.
  const port = taken ? await findFreePort() : settings.rehearsalPort;
  const place = { PLANWAVE_REHEARSAL_HOST: '127.0.0.1', PLANWAVE_REHEARSAL_PORT: String(port) };
  const start = () =>
    startNodePart({ name: 'rehearsal', env: { ...env, ...place }, home: settings.home });
  const supervised = supervise({ name: 'rehearsal', part: await start(), restart: start, say });
  return { supervised, url: `http://127.0.0.1:${port}` };
}

async function startWorker(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<{ supervised: Supervised; logFile: string }> {
  const start = async () => startNodePart({ name: 'worker', env, home: settings.home });
  const part = await start();
  const supervised = supervise({ name: 'worker', part, restart: start, say });
  return { supervised, logFile: part.logFile };
}

async function stopInOrder(
  parts: readonly Supervised[],
  say: (line: string) => void,
): Promise<void> {
  const graces = { ...graceMs } as Readonly<Record<string, number>>;
  for (const part of parts.toReversed()) {
    say(`Stopping the ${part.name} …`);
    await part.stop(graces[part.name] ?? graceMs.rehearsal);
  }
}

/** Stops the stack in order; a second Ctrl-C ends the waiting. */
export async function stopStack(
  stack: Stack,
  stop: StopSignal,
  say: (line: string) => void,
): Promise<void> {
  say('Stopping; what is recorded stays. Ctrl-C again: do not wait for steps in progress.');
  const insisted = stop.insisted.then(() => stack.kill());
  await Promise.race([stack.stop(), insisted]);
}
