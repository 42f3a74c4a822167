import { ensureTemporal } from './dev-server/dev-server.ts';
import { listenForStop, supervise } from './parts/supervise.ts';
import { say, temporalLinks } from './say.ts';
import { readSettings } from './parts/settings.ts';

const graceMs = 15_000;

/** `npm run temporal`: the embedded Temporal server alone, until Ctrl-C. Arguments go to `temporal server start-dev`. */
export async function main(args: readonly string[]): Promise<number> {
  const settings = readSettings();
  const stop = listenForStop();
  const starting = ensureTemporal({ settings, say, extraArguments: args });
  const server = await Promise.race([starting, stop.asked]);
  if (server === undefined) return 0;
  console.log(temporalLinks(server.uiUrl));
  if (server.part === undefined || server.restart === undefined) return 0;
  console.log('Ctrl-C stops it; its workflows stay on disk.');
  const supervised = supervise({ name: 'server', part: server.part, restart: server.restart, say });
  const reason = await Promise.race([supervised.givenUp, stop.asked]);
  if (reason !== undefined) {
    console.error(`Giving up: ${reason}.`);
    return 1;
  }
  await supervised.stop(graceMs);
  return 0;
}
