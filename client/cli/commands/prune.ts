import { type Command, InvalidArgumentError } from 'commander';
import { countOf } from '../../../core/text/format.ts';
import { listNames } from '../../../core/text/list-names.ts';
import type { Pruned } from '../../../contracts/store.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../terminal-text.ts';

interface Options {
  /** Seconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

const secondsPerDay = 24 * 60 * 60;

export function registerPrune(command: Command, runner: CommandRunner): void {
  command
    .requiredOption('--older-than <days>', 'time since the end of a run, for example 30d', readDays)
    .option('--dry-run', 'only show what would be removed')
    .action(({ olderThan, dryRun = false }: Options) =>
      runner.run(command, async ({ deps }) => {
        const endedBefore = Math.floor(Date.now() / 1_000) - olderThan;
        const pruned = await deps.prune({ endedBefore, dryRun });
        return { data: { ...pruned, dry_run: dryRun }, lines: describePruned(pruned, dryRun) };
      }),
    );
}

/** At least a day: a run that has just ended may still be read, or reset. */
function readDays(typed: string): number {
  const days = Number(/^([1-9]\d{0,4})d$/.exec(typed)?.[1] ?? 0);
  if (days > 0) return days * secondsPerDay;
  throw new InvalidArgumentError('Expected a number of days of at least 1, as 30d.');
}

function describePruned({ runs, records, bytes, kept_by }: Pruned, dryRun: boolean): string[] {
  const verb = dryRun ? 'Would remove' : 'Removed';
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${verb} ${countOf(runs.length, 'run')} and ${countOf(records, 'stored record')}, ${size}.`,
    ...(runs.length === 0 ? [] : [cleanLine(`Runs: ${listNames(runs)}.`)]),
    ...(kept_by === null
      ? []
      : [
          cleanLine(
            `The run ${listNames([kept_by])} has not ended, so everything that was stored since it began stays.`,
          ),
        ]),
  ];
}
