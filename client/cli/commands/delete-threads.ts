import type { Command } from 'commander';
import type { EntryCounts, EntrySelection } from '../../../contracts/thread.ts';
import { commandText } from '../../command-text.ts';
import { readLine } from '../ask/read-line.ts';
import { badInput } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { quote, unknownEntries } from './unknown-entries.ts';

interface Options {
  readonly user?: string;
  readonly yes?: boolean;
}

/** The only command that takes something away for good, so the only one that asks first. */
export function registerDeleteThreads(threads: Command, runner: CommandRunner): void {
  threads
    .command('delete')
    .argument('[thread_id]', 'thread to delete')
    .description('delete a thread, or with --user all entries of a person, after a confirmation')
    .option('--user <user_id>', 'delete the entries of this person in all threads')
    .option('--yes', 'do not ask for confirmation')
    .action((threadId: string | undefined, options: Options, command: Command) =>
      runner.run(command, (context) =>
        deleteEntries(context, choose(threadId, options.user), options.yes === true),
      ),
    );
}

/** @throws CliError when it is not clear what is to be deleted */
function choose(threadId: string | undefined, user: string | undefined): EntrySelection {
  if (threadId !== undefined && user === undefined) return { thread_id: threadId };
  if (threadId === undefined && user !== undefined) return { user_id: user };
  throw badInput(
    `Expected a thread or --user, ${user === undefined ? 'and got neither' : 'not both'}. ` +
      `Try: ${commandText('threads', 'delete', 'my-thread')}`,
  );
}

async function deleteEntries(
  context: CommandContext,
  which: EntrySelection,
  isSure: boolean,
): Promise<CommandResult> {
  const { threads } = context.deps;
  if (!isSure && !(await confirm(context, which))) {
    return { data: { ...which, deleted: null }, lines: ['Nothing was deleted.'] };
  }
  const deleted = await threads.remove(which);
  if (deleted.entries === 0) throw await unknownEntries(threads, which);
  return {
    data: { ...which, deleted },
    lines: [`Deleted ${describe(which, deleted)}.`],
  };
}

/** @throws CliError when there is no terminal to ask in, or nothing to delete */
async function confirm(
  { deps: { io, threads }, json }: CommandContext,
  which: EntrySelection,
): Promise<boolean> {
  const found = await threads.count(which);
  if (found.entries === 0) throw await unknownEntries(threads, which);
  const what = describe(which, found);
  if (json || !io.isTerminal) {
    const words = 'thread_id' in which ? [which.thread_id] : ['--user', which.user_id];
    throw badInput(
      `Without a terminal, --yes has to confirm the deletion of ${what}. ` +
        `Try: ${commandText('threads', 'delete', ...words, '--yes')}`,
    );
  }
  const typed = await readLine(io, `Delete ${what}, for good? (yes or no; Enter alone: no)\n> `);
  return /^y(?:es)?$/i.test(typed?.trim() ?? '');
}

function describe(which: EntrySelection, { threads, entries, delegations }: EntryCounts): string {
  const what = `${countOf(entries, 'entry', 'entries')} with ${countOf(delegations, 'delegation', 'delegations')}`;
  return 'thread_id' in which
    ? `thread ${quote(which.thread_id)}: ${what}`
    : `the entries of ${quote(which.user_id)} in ${countOf(threads, 'thread', 'threads')}: ${what}`;
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
