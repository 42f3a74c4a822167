import { join } from 'node:path';
import { isPreferred } from '../bootstrap/temporal-cli/probe.mjs';
import type { Settings } from '../settings.ts';
import { searchAttributeArguments } from './search-attributes.ts';

export interface ServerCli {
  readonly path: string;
  /** Such as `1.9.1`. */
  readonly version: string;
}

/** The embedded server's database: every workflow of this home. */
export function dbFileOf(settings: Pick<Settings, 'home'>): string {
  return join(settings.home, 'temporal', 'dev.db');
}

/** The command line of the embedded server, without the executable. */
export function serverArguments(cli: ServerCli, settings: Settings): string[] {
  const options = [
    `--db-filename=${dbFileOf(settings)}`,
    `--port=${settings.temporalPort}`,
    `--ui-port=${settings.uiPort}`,
    '--log-level=warn',
    ...dynamicConfig(cli).map((value) => `--dynamic-config-value=${value}`),
    // Write-ahead log: one file sync per step instead of several. FULL: a recorded step survives a power cut.
    '--sqlite-pragma=journal_mode=WAL',
    '--sqlite-pragma=synchronous=FULL',
    ...searchAttributeArguments(),
  ];
  return ['server', 'start-dev', ...options];
}

function dynamicConfig(cli: ServerCli): string[] {
  // The default of 20 polls a second makes every durable step wait up to 50 ms.
  const polls = 'history.transferProcessorMaxPollRPS=2000';
  if (isPreferred(cli.version)) return [polls];
  // Older servers have this off; without it every activity waits for another round trip.
  return [polls, 'system.enableActivityEagerExecution=true'];
}
