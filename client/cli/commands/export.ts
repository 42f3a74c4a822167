import type { Command } from 'commander';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../text/clean-text.ts';

export function registerExport(program: Command, runner: CommandRunner): void {
  program
    .command('export')
    .argument('<run>', 'id of the run')
    .description("write a run's readable files again from the store")
    .action((run: string, _options: object, command: Command) =>
      runner.run(command, async ({ deps }) => {
        const exported = await deps.exportRun(run);
        return {
          data: { run_id: run, ...exported },
          lines: [`The files of ${run} are in ${cleanLine(exported.path)}`],
        };
      }),
    );
}
