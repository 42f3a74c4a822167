import { runCli } from '../client/cli/run-cli.ts';
import { messageOf } from './bootstrap/expected-error.mjs';
import { splitStartArguments, startUsage } from './bootstrap/start-arguments.mjs';
import { createCliDeps } from './cli-deps.ts';
import { readSettings } from './parts/settings.ts';
import { listenForStop } from './parts/stop-signal.ts';
import { say, temporalLinks } from './say.ts';
import { bringUp, stopStack } from './stack.ts';

/** One run of a goal, seen from the terminal. */
interface StartRunOptions {
  readonly goal: string;
  /** Answer every question with its default instead of asking. */
  readonly defaults: boolean;
  /** `host:port` of a server whose worker is up. */
  readonly temporalAddress: string;
  /** `PLANWAVE_HOME`, absolute. */
  readonly home: string;
  /** The options that follow the goal on the command line, for the client to read. */
  readonly rest: readonly string[];
}

/**
 * Starts a run on the goal, shows it live, asks its questions in the terminal and prints its answer.
 *
 * @returns the client's exit code: 0 when the run reached its goal
 */
function startRun(options: StartRunOptions): Promise<number> {
  const { goal, defaults, temporalAddress, home, rest } = options;
  const deps = createCliDeps({ ...readSettings(), home }, temporalAddress);
  const flags = ['--watch', ...(defaults ? ['--defaults'] : []), ...rest];
  // The goal comes last, behind `--`: an option that takes several values would swallow it.
  return runCli(['start', ...flags, '--', goal], deps);
}

/** The exit code of a command that Ctrl-C ended, by the shell's convention. */
const interruptedExitCode = 130;

/** `npm start -- "<goal>"`: brings everything up, runs one goal to its result, and stops what it started. */
export async function main(args: readonly string[]): Promise<number> {
  const { goal, defaults, rest } = splitStartArguments(args);
  if (goal === '') {
    console.error(startUsage);
    return 2;
  }
  const settings = readSettings();
  const stop = listenForStop();
  const stack = await Promise.race([bringUp(settings, say), stop.asked]);
  if (stack === undefined) return interruptedExitCode;
  console.log(temporalLinks(stack.uiUrl));
  const { temporalAddress } = stack;
  // A failing run part must not keep the stack from being stopped in order.
  const outcome = await Promise.race([
    startRun({ goal, defaults, temporalAddress, home: settings.home, rest }).catch(messageOf),
    stack.givenUp,
    stop.asked,
  ]);
  if (typeof outcome === 'string') console.error(`Giving up: ${outcome}`);
  await stopStack(stack, stop, say);
  console.log(
    'The run is kept. To look at it again, or to let it go on: npm run dev, then npm run planwave -- list',
  );
  if (typeof outcome === 'number') return outcome;
  return outcome === undefined ? interruptedExitCode : 1;
}
