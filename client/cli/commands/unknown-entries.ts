import type { EntrySelection } from '../../../contracts/thread.ts';
import { commandText } from '../../command-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliThreads } from '../cli-threads.ts';
import { exitCodes } from '../exit-codes.ts';
import { cleanLine } from '../text/clean-text.ts';

/** Names that an error lists: of what was added to last. */
const namedMax = 20;

/** For a thread or a person that has no entry. It says who has. */
export async function unknownEntries(
  threads: CliThreads,
  which: EntrySelection,
): Promise<CliError> {
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
export function quote(name: string): string {
  return `"${cleanLine(name, 120)}"`;
}
