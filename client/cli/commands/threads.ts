import type { Command } from 'commander';
import type { ListedThreads } from '../../../contracts/thread.ts';
import { commandText } from '../../command-text.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../text/clean-text.ts';
import { formatTime } from '../text/format-time.ts';
import { renderTable } from '../text/render-table.ts';
import { renderThread } from '../text/render-thread.ts';
import { registerDeleteThreads } from './delete-threads.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { unknownEntries } from './unknown-entries.ts';

interface ListOptions {
  readonly limit: number;
  readonly user?: string;
}

interface ShowOptions {
  readonly limit: number;
}

/** None of them asks the server. */
export function registerThreads(program: Command, runner: CommandRunner): void {
  const threads = program
    .command('threads')
    // Else the options of `show` and `delete` would be taken for those of the list.
    .enablePositionalOptions()
    .description('list what teams remember across runs, newest first')
    .option('--limit <count>', 'maximum number of threads', readWholeNumber, 20)
    .option('--user <user_id>', 'only threads with entries of this person')
    .action((options: ListOptions, command: Command) =>
      runner.run(command, (context) => listThreads(context, options)),
    );
  threads
    .command('show')
    .argument('<thread_id>', 'id of the thread')
    .description('show messages, answers and delegations of a thread, oldest first')
    .option(
      '--limit <count>',
      'maximum number of entries; the newest are shown',
      readWholeNumber,
      20,
    )
    .action((threadId: string, { limit }: ShowOptions, command: Command) =>
      runner.run(command, (context) => showThread(context, threadId, limit)),
    );
  registerDeleteThreads(threads, runner);
}

async function listThreads(
  { deps }: CommandContext,
  { limit, user }: ListOptions,
): Promise<CommandResult> {
  const listed = await deps.threads.list({ limit, userId: user ?? null });
  if (user !== undefined && listed.total === 0) {
    throw await unknownEntries(deps.threads, { user_id: user });
  }
  const more = listed.total - listed.threads.length;
  return { data: { threads: listed.threads, more }, lines: describeList(listed, more) };
}

function describeList({ threads, total }: ListedThreads, more: number): string[] {
  if (total === 0) {
    return [
      'No threads are kept here. A team that is started with --thread <name> begins one. ' +
        'Try, if it did: PLANWAVE_HOME and PLANWAVE_THREADS_URL as the worker has them',
    ];
  }
  const rows = threads.map(({ thread_id, user_ids, entries, newest_at }) => [
    cleanLine(thread_id),
    String(entries),
    formatTime(newest_at),
    cleanLine(user_ids.join(', '), 60),
  ]);
  return [
    ...renderTable(['thread', 'entries', 'newest (UTC)', 'users'], rows),
    ...(more === 0
      ? []
      : [`and ${more} more. Try: ${commandText('threads', '--limit', String(total))}`]),
  ];
}

async function showThread(
  { deps, paint }: CommandContext,
  threadId: string,
  limit: number,
): Promise<CommandResult> {
  const { entries, total, unreadable } = await deps.threads.read(threadId, limit);
  if (total === 0) throw await unknownEntries(deps.threads, { thread_id: threadId });
  const more = Math.max(0, total - limit);
  return {
    data: { thread_id: threadId, entries, more, unreadable },
    lines: [
      ...describeOlder(threadId, more, total),
      ...renderThread(entries, paint),
      ...(unreadable === 0
        ? []
        : [
            '',
            `Left out, because it can't be read: ${unreadable} of its entries and delegations.`,
          ]),
    ],
  };
}

function describeOlder(threadId: string, more: number, total: number): string[] {
  if (more === 0) return [];
  const all = commandText('threads', 'show', threadId, '--limit', String(total));
  const what = more === 1 ? 'entry is' : 'entries are';
  return [cleanLine(`${more} older ${what} not shown. Try: ${all}`), ''];
}
