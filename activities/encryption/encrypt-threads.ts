import type { ThreadEntry } from '../../contracts/thread.ts';
import { listTerms } from '../../core/text/hash-text.ts';
import type { Cipher } from '../ports/cipher.ts';
import {
  ThreadUnavailable,
  type FoundDelegation,
  type ThreadStore,
} from '../ports/thread-store.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** Newest delegations of a thread that a search reads: an index of words would hold the words. */
const searchedMax = 200;

/** Beginning of an encrypted text; Base64 follows. */
const mark = 'pwe1:';

/**
 * Wraps threads so that messages, answers, titles, tasks and results are encrypted. Names of threads, persons, members and
 * runs stay as they are, because entries are found by them.
 *
 * ET1. Nothing that the store keeps holds a word of a text, its index of words neither.
 * ET2. A search finds the delegations that share most words with the text, of equals the newest, among the newest 200.
 * ET3. A message or delegation whose key is not there is left out and counted. A thread of which nothing can be opened is not
 *      read: rather the worker lacks its keys.
 */
export function encryptThreads(threads: ThreadStore, cipher: Cipher | undefined): ThreadStore {
  if (cipher === undefined) return threads;
  const seal = <T extends string | null>(text: T): T | string =>
    text === null || !cipher.isOn ? text : sealText(cipher, text);
  const open = <T extends string | null>(text: T): T | string =>
    text === null ? text : openText(cipher, text);
  const openTask = <T extends { title: string; task: string; result: string }>(task: T): T => ({
    ...task,
    title: open(task.title),
    task: open(task.task),
    result: open(task.result),
  });
  const openFound = ({ key, delegation }: FoundDelegation): FoundDelegation => ({
    key,
    delegation: openTask(delegation),
  });
  const openEntry = ({ message, answer, delegations, ...entry }: ThreadEntry, tried: Tried) => ({
    ...entry,
    message: open(message),
    answer: open(answer),
    delegations: openAll(delegations, openTask, tried),
  });
  return {
    ...threads,
    load: async (threadId, options) => {
      const kept = await threads.load(threadId, options);
      const tried: Tried = { opened: 0, refused: [] };
      const openMessage = (one: (typeof kept.messages)[number]) => ({
        ...one,
        text: open(one.text),
      });
      const messages = openAll(kept.messages, openMessage, tried);
      const delegations = openAll(kept.delegations, openFound, tried);
      return { messages, delegations, unreadable: kept.unreadable + countRefused(tried) };
    },
    append: async (entry) =>
      threads.append({
        ...entry,
        message: seal(entry.message),
        answer: seal(entry.answer),
        delegations: entry.delegations.map((one) => ({
          ...one,
          title: seal(one.title),
          task: seal(one.task),
          result: seal(one.result),
        })),
      }),
    search: async (threadId, query, options) => {
      if (!cipher.isOn) return threads.search(threadId, query, options);
      const { exceptRun, limit } = options;
      const loaded = { messages: 1, delegations: searchedMax, exceptRun };
      const kept = await threads.load(threadId, loaded);
      const tried: Tried = { opened: 0, refused: [] };
      const delegations = rank(openAll(kept.delegations, openFound, tried), query).slice(0, limit);
      return { delegations, unreadable: kept.unreadable + countRefused(tried) };
    },
    read: async (threadId, limit) => {
      const found = await threads.read(threadId, limit);
      const tried: Tried = { opened: 0, refused: [] };
      const entries = openAll(found.entries, (entry) => openEntry(entry, tried), tried);
      return { ...found, entries, unreadable: found.unreadable + countRefused(tried) };
    },
  };
}

/** Texts that were to be opened. */
interface Tried {
  opened: number;
  readonly refused: ThreadUnavailable[];
}

/** Opens each, and leaves out those whose key is not there. */
function openAll<T, Opened>(
  sealed: readonly T[],
  open: (one: T) => Opened,
  tried: Tried,
): Opened[] {
  return sealed.flatMap((one) => {
    try {
      const opened = open(one);
      tried.opened += 1;
      return [opened];
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      tried.refused.push(error);
      return [];
    }
  });
}

/** @throws {ThreadUnavailable} when nothing could be opened. */
function countRefused({ opened, refused }: Tried): number {
  const [first] = refused;
  if (first !== undefined && opened === 0) throw first;
  return refused.length;
}

/** Sorts by the number of shared words, stably, and leaves out those without any. */
function rank(found: readonly FoundDelegation[], query: string): readonly FoundDelegation[] {
  const wanted = new Set(listTerms(query));
  return found
    .map((one) => {
      const { title, member_id, task, result } = one.delegation;
      const words = new Set(listTerms([title, member_id, task, result].join('\n')));
      return { one, shared: [...wanted].filter((word) => words.has(word)).length };
    })
    .filter(({ shared }) => shared > 0)
    .toSorted((a, b) => b.shared - a.shared)
    .map(({ one }) => one);
}

const part = 'thread';

function sealText(cipher: Cipher, text: string): string {
  return mark + Buffer.from(cipher.seal(Buffer.from(text), part)).toString('base64url');
}

/** @throws {ThreadUnavailable} when the key is not there. */
function openText(cipher: Cipher, text: string): string {
  if (!text.startsWith(mark)) return text;
  const sealed = Buffer.from(text.slice(mark.length), 'base64url');
  // A text of a person may begin like that too.
  if (!cipher.isSealed(sealed)) return text;
  try {
    return Buffer.from(cipher.open(sealed, part)).toString('utf8');
  } catch (error) {
    throw new ThreadUnavailable(`Can't read the threads. ${messageOf(error)}.`, { cause: error });
  }
}
