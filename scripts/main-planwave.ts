import type { CliDeps } from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { createProcessIo } from '../client/cli/cli-io.ts';
import { runCli } from '../client/cli/commands/run-cli.ts';
import { ExpectedError } from './bootstrap/expected-error.mjs';
import { readVersion } from './bootstrap/hand-over.mjs';

/** `npm run planwave -- <command>`: the client. `temporal …` passes through to the Temporal CLI that planwave uses. */
export async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'temporal') {
    const { runTemporalCli } = await import('./temporal-cli.ts');
    return runTemporalCli(args.slice(1));
  }
  return runCli(args, {
    io: createProcessIo(),
    version: readVersion(),
    env: process.env,
    load: loadDeps,
  });
}

/** Loads what the work of a command needs: help and version come without. */
async function loadDeps(): Promise<CliDeps> {
  const { readSettings, temporalAddressOf } = await import('./parts/settings.ts');
  const { createCliDeps } = await import('./cli-deps.ts');
  try {
    const settings = readSettings();
    // The client knows Temporal's variables only; `PLANWAVE_TEMPORAL_PORT` moves the embedded server.
    return createCliDeps(settings, temporalAddressOf(settings));
  } catch (error) {
    const { BadSettings } = await import('../worker/worker-settings.ts');
    const isExpected = error instanceof ExpectedError || error instanceof BadSettings;
    throw isExpected ? badInput(error.message) : error;
  }
}
