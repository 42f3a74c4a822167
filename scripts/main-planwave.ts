import type { CliDeps } from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { createProcessIo } from '../client/cli/cli-io.ts';
import { runCli } from '../client/cli/commands/program.ts';
import { ExpectedError } from './bootstrap/expected-error.mjs';
import { isBuilt, readVersion } from './bootstrap/hand-over.mjs';
import { splitStartArguments } from './bootstrap/start-arguments.mjs';

/**
 * Runs `npm run planwave -- <command>`, or `npx planwave <command>` of an installed package. `temporal …` passes through to
 * the Temporal CLI that planwave uses. In the package, `start "<goal>"` brings up what is missing, as `npm start` does in a
 * checkout.
 */
export async function main(args: readonly string[]): Promise<number> {
  if (isBuilt && args[0] === 'start' && (await isAlone(args.slice(1)))) {
    const { main: start } = await import('./main-start.ts');
    return start(args.slice(1));
  }
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

/** Tells whether a goal is given, and nothing names a server or listens where the embedded one would. */
async function isAlone(args: readonly string[]): Promise<boolean> {
  const { goal, rest } = splitStartArguments(args);
  if (goal === '' || rest.some((option) => /^--(?:address|help)\b/.test(option))) return false;
  const { readSettings } = await import('./parts/settings.ts');
  const { isListening } = await import('./dev-server/temporal-probe.ts');
  const { temporalAddressGiven, temporalPort } = readSettings();
  return temporalAddressGiven === undefined && !(await isListening('127.0.0.1', temporalPort));
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
