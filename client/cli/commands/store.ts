import type { Command } from 'commander';
import { countOf } from '../../../core/text/format.ts';
import type { CopiedStores } from '../../../contracts/store.ts';
import { exitCodes } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../terminal-text.ts';

/** Registers the commands for whole stores. None asks the Temporal server. */
export function registerStore(store: Command, runner: CommandRunner): void {
  store
    .command('copy')
    .argument('<from>', 'artifact home, or postgresql://user@host:port/database')
    .argument('<to>', 'a second one; nothing in it is replaced')
    .description('copy everything from one store to another, while no worker is running')
    .action((from: string, to: string, _options: object, command: Command) =>
      runner.run(command, async ({ deps }) => {
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
