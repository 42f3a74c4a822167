import { runCli } from '../client/cli/run-cli.ts';
import { createCliDeps } from './cli-deps.ts';
import { readSettings, temporalAddressOf } from './parts/settings.ts';
import { runTemporalCli } from './temporal-cli.ts';

/** `npm run planwave -- <command>`: the client. `temporal …` passes through to the Temporal CLI that planwave uses. */
export function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'temporal') return runTemporalCli(args.slice(1));
  const settings = readSettings();
  // The client knows Temporal's variables only; `PLANWAVE_TEMPORAL_PORT` moves the embedded server.
  return runCli(args, createCliDeps(settings, temporalAddressOf(settings)));
}
