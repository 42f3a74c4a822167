import { runCli } from '../../client/cli/commands/program.ts';
import { createCliDeps } from '../../scripts/cli-deps.ts';
import { createFakeIo } from '../unit/client/support/fake-io.ts';
import type { Stage } from './stage.ts';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs one command line of `planwave` on the server and the files of a stage. Everything except its terminal is as on a
 * real machine.
 *
 * @param piped text on standard input; null leaves it open for a person who types. Default: none.
 * @param io Terminal, for a command that goes on until it is interrupted. Default: one of its own.
 */
export async function runCommand(
  stage: Pick<Stage, 'address' | 'home' | 'taskQueue'>,
  argv: readonly string[],
  piped: string | Uint8Array | null = '',
  io = createFakeIo(),
): Promise<CommandOutcome> {
  if (piped !== null) io.stdin.end(Buffer.from(piped));
  const settings = {
    home: stage.home,
    temporalAddressGiven: stage.address,
    temporalPort: 7233,
    uiPort: 8233,
    webUi: true,
    rehearsalPort: 8787,
    needsRehearsal: true,
  };
  const deps = createCliDeps(settings, stage.address);
  const env = { ...deps.env, PLANWAVE_TASK_QUEUE: stage.taskQueue };
  const code = await runCli(argv, { ...deps, io, env });
  return { code, out: io.out(), err: io.err() };
}
