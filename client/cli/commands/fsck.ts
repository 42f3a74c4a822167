import type { Command } from 'commander';
import { countOf } from '../../../core/text/format.ts';
import type { CheckedHome, HomeFault } from '../../../contracts/store.ts';
import { exitCodes } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../terminal-text.ts';

interface Options {
  readonly repair?: boolean;
  readonly removeOrphans?: boolean;
}

export function registerFsck(command: Command, runner: CommandRunner): void {
  command
    .option('--repair', 'remove torn records, which only cost space')
    .option(
      '--remove-orphans',
      'remove objects of the bucket that the database does not name and that are older than a day',
    )
    .action(({ repair = false, removeOrphans = false }: Options) =>
      runner.run(command, async ({ deps }) => {
        const checked = await deps.checkHome({ repair, removeOrphans });
        const exitCode = checked.faults.length === 0 ? exitCodes.ok : exitCodes.unmet;
        return { data: checked, lines: describeCheck(checked), exitCode };
      }),
    );
}

function describeCheck({ runs, records, bytes, faults, repaired }: CheckedHome): string[] {
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  const found = faults.length === 0 ? 'no damage' : countOf(faults.length, 'fault');
  return [
    `Read ${countOf(runs, 'run')} and ${countOf(records, 'stored record')}, ${size}: ${found}.`,
    ...repaired.map((one) => `Removed: ${describeFault(one)}.`),
    ...faults.flatMap((one) => [`${describeFault(one)}.`, cleanLine(`Try: ${one.cure}.`)]),
  ];
}

function describeFault({ where, what }: HomeFault): string {
  return cleanLine(`${where}: ${what}`);
}
