import { runCli } from '../client/cli/run-cli.ts';
import { createCliDeps } from './cli-deps.ts';
import { readSettings } from './settings.ts';

/** One run of a goal, seen from the terminal. */
export interface StartRunOptions {
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
export function startRun(options: StartRunOptions): Promise<number> {
  const { goal, defaults, temporalAddress, home, rest } = options;
  const deps = createCliDeps({ ...readSettings(), home }, temporalAddress);
  const flags = ['--watch', ...(defaults ? ['--defaults'] : []), ...rest];
  // The goal comes last, behind `--`: an option that takes several values would swallow it.
  return runCli(['start', ...flags, '--', goal], deps);
}
