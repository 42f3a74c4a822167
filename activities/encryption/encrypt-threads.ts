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
  return {
    ...threads,
    load: async (threadId, options) => {
      const kept = await threads.load(threadId, options);
      return {
        ...kept,
        messages: kept.messages.map((one) => ({ ...one, text: open(one.text) })),
        delegations: kept.delegations.map(openFound),
      };
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
      const { delegations, unreadable } = await threads.load(threadId, loaded);
      return { delegations: rank(delegations.map(openFound), query).slice(0, limit), unreadable };
    },
    read: async (threadId, limit) => {
      const found = await threads.read(threadId, limit);
      return {
        ...found,
        entries: found.entries.map((entry) => ({
          ...entry,
          message: open(entry.message),
          answer: open(entry.answer),
          delegations: entry.delegations.map(openTask),
        })),
      };
    },
  };
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
