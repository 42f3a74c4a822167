import { countOf, commandText } from '../../../core/text/format.ts';
import type { Command } from 'commander';
import type {
  ListedThreads,
  EntryCounts,
  EntrySelection,
  KeptDelegation,
  ThreadEntry,
} from '../../../contracts/thread.ts';
import { formatTime } from '../../format-time.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable, cleanLines, cleanText, type Paint } from '../terminal-text.ts';
import { readWholeNumber } from './input-options.ts';
import { confirm } from '../cli-io.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CliThreads } from '../cli-deps.ts';

interface ListOptions {
  readonly limit: number;
  readonly user?: string;
}

interface ShowOptions {
  readonly limit: number;
}

/** None of them asks the server. */
export function registerThreads(threads: Command, runner: CommandRunner): void {
  threads
    // Else the options of `show` and `delete` would be taken for those of the list.
    .enablePositionalOptions()
    .option('--limit <count>', 'maximum number of threads', readWholeNumber, 20)
    .option('--user <user_id>', 'only threads with entries of this person')
    .action(runner(listThreads));
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
    .action(runner(showThread));
  // The only command that takes something away for good, so the only one that asks first.
  threads
    .command('delete')
    .argument('[thread_id]', 'thread to delete')
    .description('delete a thread, or with --user all entries of a person, after a confirmation')
    .option('--user <user_id>', 'delete the entries of this person in all threads')
    .option('--yes', 'do not ask for confirmation')
    .action(runner(deleteEntries));
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
  return { data: { threads: listed.threads, more }, lines: describeList(listed, more, user) };
}

function describeList({ threads, total }: ListedThreads, more: number, user?: string): string[] {
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
  const all = ['--limit', String(total), ...(user === undefined ? [] : ['--user', user])];
  return [
    ...renderTable(['thread', 'entries', 'newest (UTC)', 'users'], rows),
    ...(more === 0 ? [] : [cleanLine(`and ${more} more. Try: ${commandText('threads', ...all)}`)]),
  ];
}

async function showThread(
  { deps, paint }: CommandContext,
  threadId: string,
  { limit }: ShowOptions,
): Promise<CommandResult> {
  const { entries, total, unreadable } = await deps.threads.read(threadId, limit);
  if (total === 0) throw await unknownEntries(deps.threads, { thread_id: threadId });
  const more = Math.max(0, total - limit);
  return {
    data: { thread_id: threadId, entries, more, unreadable },
    lines: [
      ...describeOlder(threadId, more, total),
      ...entries.flatMap((entry, at) => [...(at === 0 ? [] : ['']), ...renderEntry(entry, paint)]),
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

interface Options {
  readonly user?: string;
  readonly yes?: boolean;
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
  threadId: string | undefined,
  { user, yes = false }: Options,
): Promise<CommandResult> {
  const which = choose(threadId, user);
  const { threads } = context.deps;
  if (!yes && !(await isConfirmed(context, which))) {
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
async function isConfirmed(
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
  return confirm(io, `Delete ${what}, for good?`);
}

function describe(which: EntrySelection, { threads, entries, delegations }: EntryCounts): string {
  const what = `${countOf(entries, 'entry', 'entries')} with ${countOf(delegations, 'delegation', 'delegations')}`;
  return 'thread_id' in which
    ? `thread ${quote(which.thread_id)}: ${what}`
    : `the entries of ${quote(which.user_id)} in ${countOf(threads, 'thread', 'threads')}: ${what}`;
}

/** Names that an error lists: of what was added to last. */
const namedMax = 20;

/** Creates the error for a thread or a person without an entry. It lists the newest that have one. */
async function unknownEntries(threads: CliThreads, which: EntrySelection): Promise<CliError> {
  const newest = await threads.list({ limit: namedMax, userId: null });
  const [missing, known] =
    'thread_id' in which
      ? [
          `There is no thread ${quote(which.thread_id)}. Newest threads`,
          newest.threads.map((one) => one.thread_id),
        ]
      : [
          `There is no entry of ${quote(which.user_id)} in any thread. People in the newest threads`,
          newest.threads.flatMap((one) => one.user_ids),
        ];
  return new CliError(
    'not_found',
    exitCodes.notFound,
    `${missing}: ${listOnce(known)}. Try: ${commandText('threads')}, ` +
      'or PLANWAVE_HOME and PLANWAVE_THREADS_URL as the worker has them',
  );
}

function listOnce(names: readonly string[]): string {
  const each = [...new Set(names)].slice(0, namedMax);
  return each.length === 0 ? 'none' : each.map(quote).join(', ');
}

/** A name in a sentence; names may have blanks. */
function quote(name: string): string {
  return `"${cleanLine(name, 120)}"`;
}

function renderEntry(entry: ThreadEntry, paint: Paint): string[] {
  const { at, run_id, delegation_id, user_id, message, answer, delegations } = entry;
  const user = user_id === null ? '' : ` · ${cleanLine(user_id)}`;
  const head = `${formatTime(at)} UTC · ${cleanLine(run_id)} ${cleanLine(delegation_id)}${user}`;
  return [
    paint('strong', head),
    ...renderPart('message', message, paint),
    ...(answer === null ? [paint('quiet', '  no answer')] : renderPart('answer', answer, paint)),
    ...delegations.flatMap((delegation) => renderDelegation(delegation, paint)),
  ];
}

function renderPart(name: string, text: string, paint: Paint): string[] {
  const lines = cleanText(text).trim().split('\n');
  return [paint('quiet', `  ${name}:`), ...lines.map((line) => `    ${line}`.trimEnd())];
}

function renderDelegation(delegation: KeptDelegation, paint: Paint): string[] {
  const { delegation_id, member_id, title, status, task, result } = delegation;
  const head = [delegation_id, member_id, title, status].map((word) => cleanLine(word)).join(' · ');
  return [
    `${paint('quiet', '  gave out:')} ${head}`,
    ...cleanLines(task).map((line) => `    ${line}`),
    ...(cleanLines(result).length === 0 ? [] : [paint('quiet', '    of it came:')]),
    ...cleanLines(result).map((line) => `      ${line}`),
  ];
}
