import { join } from 'node:path';
import { workflowTaskTimeoutMs } from '../../contracts/names.ts';
import { isPreferred } from '../bootstrap/temporal-cli/probe.mjs';
import type { Settings } from '../settings.ts';
import { searchAttributeArguments } from './search-attributes.ts';

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
  const always = [
    'history.transferProcessorMaxPollRPS=2000',
    // Timers, timeouts and back-offs fire when they are due, not up to a second later.
    'history.timerProcessorMaxTimeShift="20ms"',
    // A workflow that does not fit its worker's code appears in every list after two failed tasks, not five (half a
    // minute).
    'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2',
    // Applies to runs that the Temporal CLI starts: see `workflowTaskTimeoutMs` in contracts/names.ts.
    `history.defaultWorkflowTaskTimeout="${workflowTaskTimeoutMs / 1_000}s"`,
  ];
  if (isPreferred(cli.version)) return always;
  // Older servers have this off; without it every activity waits for another round trip.
  return [...always, 'system.enableActivityEagerExecution=true'];
}
