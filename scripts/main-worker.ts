import { BadSettings } from '../worker/worker-settings.ts';
import { runWorker } from '../worker/main.ts';
import { badSettingsExitCode, ExpectedError } from './bootstrap/expected-error.mjs';
import { registerSearchAttributes } from './dev-server/search-attributes.ts';
import { announceReady } from './parts/node-part.ts';
import { readSettings, temporalAddressOf } from './settings.ts';

/** `npm run worker`: one worker alone, until Ctrl-C or SIGTERM. Calls in flight may finish first. */
export async function main(): Promise<number> {
  const address = temporalAddressOf(readSettings());
  process.env['TEMPORAL_ADDRESS'] ??= address;
  await registerSearchAttributes(address);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  try {
    await runWorker({
      signal: stop.signal,
      onReady(taskQueue) {
        console.log(`The worker polls "${taskQueue}" on ${address}. Ctrl-C stops it.`);
        announceReady();
      },
    });
    return 0;
  } catch (error) {
    if (error instanceof BadSettings) throw new ExpectedError(error.message, badSettingsExitCode);
    throw error;
  }
}
