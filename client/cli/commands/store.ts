/** The commands for whole stores. None asks the Temporal server. */
import { type Command, InvalidArgumentError } from 'commander';
import { countOf } from '../../../core/text/format.ts';
import { listNames } from '../../../core/text/list-names.ts';
import type { CheckedHome, CopiedStores, HomeFault, Pruned } from '../../../contracts/store.ts';
import { exitCodes } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../terminal-text.ts';

interface PruneOptions {
  /** Seconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

const secondsPerDay = 24 * 60 * 60;

export function registerPrune(command: Command, runner: CommandRunner): void {
  command
    .requiredOption('--older-than <days>', 'time since the end of a run, for example 30d', readDays)
    .option('--dry-run', 'only show what would be removed')
    .action(
      runner(async ({ deps }, { olderThan, dryRun = false }: PruneOptions) => {
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
  return [
    `${verb} ${countOf(runs.length, 'run')} and ${countOf(records, 'stored record')}, ${formatSize(bytes)}.`,
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

interface CheckOptions {
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
    .action(
      runner(async ({ deps }, { repair = false, removeOrphans = false }: CheckOptions) => {
        const checked = await deps.checkHome({ repair, removeOrphans });
        const exitCode = checked.faults.length === 0 ? exitCodes.ok : exitCodes.unmet;
        return { data: checked, lines: describeCheck(checked), exitCode };
      }),
    );
}

function describeCheck(checked: CheckedHome): string[] {
  const { runs, records, bytes, faults, repaired, unchecked = [] } = checked;
  const found = faults.length === 0 ? 'no damage' : countOf(faults.length, 'fault');
  return [
    `Read ${countOf(runs, 'run')} and ${countOf(records, 'stored record')}, ${formatSize(bytes)}: ${found}.`,
    ...repaired.map((one) => `Removed: ${describeFault(one)}.`),
    ...faults.flatMap((one) => [`${describeFault(one)}.`, cleanLine(`Try: ${one.cure}.`)]),
    ...unchecked.flatMap((one) => [
      `Not checked: ${describeFault(one)}.`,
      cleanLine(`Try: ${one.cure}.`),
    ]),
  ];
}

function describeFault({ where, what }: HomeFault): string {
  return cleanLine(`${where}: ${what}`);
}

function formatSize(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function registerStore(store: Command, runner: CommandRunner): void {
  store
    .command('copy')
    .argument('<from>', 'artifact home, or postgresql://user@host:port/database')
    .argument('<to>', 'a second one; nothing in it is replaced')
    .description('copy everything from one store to another, while no worker is running')
    .action(
      runner(async ({ deps }, from: string, to: string) => {
        const copied = await deps.copyStore(from, to);
        const exitCode = copied.faults.length === 0 ? exitCodes.ok : exitCodes.unmet;
        return { data: copied, lines: describeCopy(copied), exitCode };
      }),
    );
}

function describeCopy({
  artifacts,
  replies,
  effects,
  names,
  threads,
  shared,
  faults,
}: CopiedStores) {
  const kinds = [artifacts, replies, effects, names, threads, shared];
  const present = kinds.reduce((sum, kind) => sum + kind.present, 0);
  const parts = [
    countOf(artifacts.copied, 'artifact'),
    `${replies.copied} paid ${replies.copied === 1 ? 'reply' : 'replies'}`,
    countOf(effects.copied, 'side effect'),
    countOf(names.copied, 'name'),
    countOf(threads.copied, 'thread entry', 'thread entries'),
    countOf(shared.copied, 'shared value'),
  ];
  const there = present === 0 ? '' : `, ${present} were there already`;
  return [
    `Copied ${parts.join(', ')}${there}. Every artifact was read back and compared with its address.`,
    ...(faults.length === 0
      ? [
          'The second store takes the place of the first: start every worker with it, and none with the first.',
        ]
      : []),
    ...faults.flatMap(({ where, what, cure }) => [
      cleanLine(`Not copied: ${where}: ${what}.`),
      cleanLine(`Try: ${cure}.`),
    ]),
  ];
}
