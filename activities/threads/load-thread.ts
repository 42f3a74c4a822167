import type { LoadThreadInput, LoadThreadResult } from '../../contracts/team-activities.ts';
import type { ThreadHistory } from '../../contracts/thread.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { ThreadUnavailable } from '../ports/thread-store.ts';
import type { FoundDelegation, FoundDelegations, ThreadStore } from '../ports/thread-store.ts';
import type { ThreadDeps } from './deps.ts';
import { threadLimits } from './thread-limits.ts';

/**
 * Loads the part of a thread that its leader is given. Entries of the same run are left out, so that a second attempt
 * gets the same as the first.
 *
 * Messages are useful without the delegations (seed 002, case 4.4): a failed search loses its results, an unreadable
 * delegation only itself; the note says so.
 *
 * @throws {ThreadUnavailable} when the store can't be read at all.
 * @throws {ArtifactCorrupt} when the message is missing or damaged.
 * @throws {StoreUnavailable} when the artifact store can't be read or written.
 */
export async function loadThread(
  { store, threads }: ThreadDeps,
  { thread_id, message_ref, run_id }: LoadThreadInput,
): Promise<LoadThreadResult> {
  const { messagesMax, messageCharsMax, newestMax } = threadLimits;
  const message = await store.getText(message_ref);
  const [kept, found] = await Promise.all([
    threads.load(thread_id, { messages: messagesMax, delegations: newestMax, exceptRun: run_id }),
    findPast(threads, thread_id, message, run_id),
  ]);
  const history: ThreadHistory = {
    messages: kept.messages.map((one) => ({ ...one, text: cutText(one.text, messageCharsMax) })),
    delegations: eachOnce([...(found?.delegations ?? []), ...kept.delegations]),
  };
  const isNew = history.messages.length === 0 && history.delegations.length === 0;
  return {
    history_ref: isNew ? null : await store.put(JSON.stringify(history)),
    note: [
      describeThread(history),
      ...describeLoss(found, kept.unreadable + (found?.unreadable ?? 0)),
    ].join(' '),
  };
}

/** @returns null when the search failed. */
async function findPast(
  threads: ThreadStore,
  threadId: string,
  message: string,
  runId: string,
): Promise<FoundDelegations | null> {
  try {
    return await threads.search(threadId, message, {
      limit: threadLimits.foundMax,
      exceptRun: runId,
    });
  } catch (error) {
    if (error instanceof ThreadUnavailable) return null;
    throw error;
  }
}

function eachOnce(found: readonly FoundDelegation[]): ThreadHistory['delegations'] {
  const byKey = new Map<string, ThreadHistory['delegations'][number]>();
  for (const { key, delegation } of found) if (!byKey.has(key)) byKey.set(key, delegation);
  return [...byKey.values()];
}

/** Describes the thread. A thread that is unexpectedly new has a mistyped id. */
function describeThread({ messages, delegations }: ThreadHistory): string {
  if (messages.length === 0 && delegations.length === 0) return 'The thread is new.';
  const said = countOf(messages.length, 'message or answer', 'messages and answers');
  const done = countOf(delegations.length, 'past delegation', 'past delegations');
  return `Of the thread the leader was told ${said} and ${done}.`;
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function describeLoss(found: FoundDelegations | null, unreadable: number): string[] {
  if (found === null) return ['Its past delegations could not be searched.'];
  return unreadable === 0 ? [] : ['Past delegations that could not be read were left out.'];
}
