import { join } from 'node:path';
import { ExpectedError } from '../bootstrap/expected-error.mjs';
import { describeCli, findTemporalCli } from '../bootstrap/find-temporal-cli.mjs';
import { withLock } from '../bootstrap/with-lock.mjs';
import { describeFolderFault, type Settings } from '../parts/settings.ts';
import { logTail, startPart, type Part } from '../parts/part.ts';
import { dbFileOf, serverArguments, type ServerCli } from './server-arguments.ts';
import {
  findRunningServer,
  recordServer,
  refuseTakenPort,
  type Reachable,
} from './running-server.ts';
import { localHost, waitForNamespace } from './temporal-probe.ts';

/** A Temporal server that planwave can use. */
export interface TemporalServer extends Reachable {
  /** Set when this process started it; undefined when it ran already, and then it is not ours to stop. */
  readonly part: Part | undefined;
  /** Starts it again after it died, with the same files and ports. Absent when it is not ours. */
  readonly restart?: () => Promise<Part>;
}

export interface TemporalServerOptions {
  readonly settings: Settings;
  readonly say: (line: string) => void;
  /** More arguments for `temporal server start-dev`; they win over ours. */
  readonly extraArguments?: readonly string[];
}

const startTimeoutMs = 60_000;

/**
 * Uses the Temporal server that the environment names or that runs on the port already, else starts the embedded one
 * with its database under `PLANWAVE_HOME`. The database survives kill -9 of everything.
 *
 * @throws {ExpectedError} when the named server does not answer, a port is taken, or the start failed
 */
export async function ensureTemporal(options: TemporalServerOptions): Promise<TemporalServer> {
  const { settings, say } = options;
  const running = await findRunningServer(settings, say);
  if (running !== undefined) return { ...running, part: undefined };
  const found = await findTemporalCli({ say });
  say(describeCli(found));
  const cli: ServerCli = { path: found.path, version: found.version };
  const fault = describeFolderFault(join(settings.home, 'temporal'));
  if (fault !== undefined) throw new ExpectedError(fault);
  // Two commands started at once in one home must not both open its database.
  return withLock(
    join(settings.home, 'temporal', 'start.lock'),
    async () => {
      const meanwhile = await findRunningServer(settings, say);
      if (meanwhile !== undefined) return { ...meanwhile, part: undefined };
      return start(cli, options);
    },
    say,
  );
}

async function start(cli: ServerCli, options: TemporalServerOptions): Promise<TemporalServer> {
  const { settings, say, extraArguments = [] } = options;
  if (settings.webUi) {
    await refuseTakenPort(settings.uiPort, 'PLANWAVE_UI_PORT', 'the Temporal Web UI');
  }
  const address = `${localHost}:${settings.temporalPort}`;
  const restart = () => launch(cli, settings, extraArguments);
  try {
    const part = await restart();
    say(`Temporal dev server started: ${address}, database ${dbFileOf(settings)}`);
    const uiUrl = settings.webUi ? `http://localhost:${settings.uiPort}` : undefined;
    return { address, uiUrl, part, restart };
  } catch (error) {
    // Another home's server may have taken the port between our look and our start.
    const meanwhile = await findRunningServer(settings, say).catch(() => undefined);
    if (meanwhile === undefined) throw error;
    return { ...meanwhile, part: undefined };
  }
}

async function launch(
  cli: ServerCli,
  settings: Settings,
  extraArguments: readonly string[],
): Promise<Part> {
  const logFile = join(settings.home, 'temporal', 'server.log');
  const part = startPart({
    command: cli.path,
    args: [...serverArguments(cli, settings), ...extraArguments],
    env: process.env,
    logFile,
    kind: 'foreign',
  });
  const ended = new AbortController();
  void part.ended.then(() => ended.abort());
  const failure = await waitForNamespace(settings.temporalPort, startTimeoutMs, ended.signal);
  if (failure === undefined) {
    recordServer(settings);
    return part;
  }
  const reason = ended.signal.aborted
    ? `it ended (${await part.ended})`
    : `it was not ready within ${startTimeoutMs / 1000} s: ${failure}`;
  part.kill();
  throw new ExpectedError(
    `The Temporal dev server did not start: ${reason}.\nThe end of its log (${logFile}):\n${logTail(logFile)}`,
  );
}
