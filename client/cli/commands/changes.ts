import type { Command } from 'commander';
import type { TakenOver } from '../cli-deps.ts';
import type { CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';

/** Registers the commands for what a run has changed in a git repository. They need no server. */
export function registerChanges(program: Command, runner: CommandRunner): void {
  program
    .command('diff')
    .argument('<run>', 'id of the run')
    .argument('[delegation]', 'only the changes of this delegation')
    .description("print a run's changes of its workspace, a git repository, as a patch")
    .action((run: string, delegation: string | undefined, _options: object, command: Command) =>
      runner.run(command, async ({ deps }) => {
        const patch = await deps.changes.diff(run, delegation ?? null);
        const lines = patch === '' ? ['Nothing is changed.'] : [cleanText(patch).trimEnd()];
        return { data: { run_id: run, patch }, lines };
      }),
    );
  program
    .command('apply')
    .argument('<run>', 'id of the run')
    .description("bring a run's changes into your folder, as changes that are not committed")
    .action((run: string, _options: object, command: Command) =>
      runner.run(command, async ({ deps }) =>
        describe(run, await deps.changes.apply(run), 'applied'),
      ),
    );
  program
    .command('undo')
    .argument('<run>', 'id of the run')
    .description("take a run's applied changes out of your folder again")
    .action((run: string, _options: object, command: Command) =>
      runner.run(command, async ({ deps }) =>
        describe(run, await deps.changes.undo(run), 'undone'),
      ),
    );
}

function describe(run_id: string, { dir, files }: TakenOver, done: string): CommandResult {
  const first =
    files.length === 0 ? `There is nothing to be ${done} in ${dir}.` : `${done} in ${dir}:`;
  return {
    data: { run_id, dir, files },
    lines: [cleanLine(first), ...files.map(({ change, path }) => `  ${change} ${cleanLine(path)}`)],
  };
}
