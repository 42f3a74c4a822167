import { loadMiddlewares, loadTools } from '../worker/load-modules.ts';
import { BadSettings, readWorkerSettings } from '../worker/worker-settings.ts';
import { runWorker, type ReadyWorker } from '../worker/main.ts';
import { badSettingsExitCode, ExpectedError } from './bootstrap/expected-error.mjs';
import { refuseOtherHome } from './dev-server/running-server.ts';
import { registerSearchAttributes } from './dev-server/server-arguments.ts';
import { announceReady } from './parts/part.ts';
import { listenForStop, type StopSignal } from './parts/supervise.ts';
import { say } from './say.ts';
import { readSettings, temporalAddressOf } from './parts/settings.ts';

/** The exit code of a command that a second Ctrl-C ended, by the shell's convention. */
const insistedExitCode = 130;

/** Runs `npm run worker`: a single worker, until Ctrl-C or SIGTERM. Calls in flight may finish first. */
export async function main(): Promise<number> {
  const settings = readSettings();
  const address = temporalAddressOf(settings);
  process.env['TEMPORAL_ADDRESS'] ||= address;
  // Checked before the server is asked: a fault here does not depend on it.
  await asExpected(async () => {
    const { middlewaresFile, tools } = readWorkerSettings(process.env);
    await loadMiddlewares(middlewaresFile);
    await loadTools(tools.file);
  });
  if (settings.temporalAddressGiven === undefined) {
    await refuseOtherHome(settings, settings.temporalPort);
  }
  await registerSearchAttributes(address);
  const stop = listenForStop();
  const ending = new AbortController();
  void endWhenAsked(stop, ending);
  await asExpected(() =>
    runWorker({
      signal: ending.signal,
      onReady(worker) {
        for (const line of introduce(worker, address)) say(line);
        announceReady();
      },
    }),
  );
  return 0;
}

/**
 * Describes the worker. A versioned one that is not current gets no new runs until the printed command makes it
 * current.
 */
function introduce({ taskQueue, buildId, deployment }: ReadyWorker, address: string): string[] {
  const place = `"${taskQueue}" on ${address}`;
  if (deployment === null) return [`The worker polls ${place}. Ctrl-C stops it.`];
  const { name, namespace, isCurrent } = deployment;
  const polls = `The worker polls ${place} as version ${buildId} of the deployment ${name}. Ctrl-C stops it.`;
  if (isCurrent) return [polls, 'It is the current version: new runs come to it.'];
  const command =
    `temporal worker deployment set-current-version --deployment-name ${name} --build-id ${buildId} ` +
    `--namespace ${namespace} --address ${address} --yes`;
  return [polls, 'It is not the current version. New runs come to it after:', `  ${command}`];
}

async function endWhenAsked(stop: StopSignal, ending: AbortController): Promise<void> {
  await stop.asked;
  say('Stopping: calls in flight may finish first. Ctrl-C again: do not wait for them.');
  ending.abort();
  await stop.insisted;
  process.exit(insistedExitCode);
}

/** Turns a wrong setting into a message of a few lines, without a stack. */
async function asExpected(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof BadSettings) throw new ExpectedError(error.message, badSettingsExitCode);
    throw error;
  }
}
