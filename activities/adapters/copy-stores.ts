import { isDeepStrictEqual } from 'node:util';
import type { CopiedKind, CopiedStores, HomeFault } from '../../contracts/store.ts';
import type { ThreadEntry } from '../../contracts/thread.ts';
import { ArtifactCorrupt, type RunIndex } from '../ports/artifact-store.ts';
import { damagedEntry } from '../ports/effect-ledger.ts';
import type { LedgerEntry } from '../ports/reply-ledger.ts';
import { sharedCure } from '../ports/shared-values.ts';
import type { Stores } from '../ports/stores.ts';
import { hashBytes } from '../text/bytes.ts';
import { hashKey } from './file-store/file-ledgers.ts';

/** Artifacts that are copied at once. */
const parallelMax = 8;

/** More than any store has. */
const all = 2_000_000_000;

/**
 * Copies everything from one store to another. No worker may be running on either.
 *
 * CPS1. A copy that was interrupted continues where it ended: what the other store has already is not written again.
 * CPS2. Every artifact is read back from the other store, also one that was there, and compared with its address.
 * CPS3. Nothing in the other store is replaced. An entry that differs is a fault.
 * CPS4. A run is named after everything else is copied, and only if its record is there.
 * CPS5. At the end the other store is known as one that has the runs of the first, and of those that were copied into that. A
 *       home into which a database is copied also takes the place of the home beside it: whoever copies brings its folders.
 * CPS6. A paid reply keeps the time at which it was written, and that of the first entry of its attempt.
 *
 * @param to without a cache: it would read back from memory.
 * @throws {StoreUnavailable} when a store can't be read or written.
 * @throws {ThreadUnavailable} when threads can't be read or written.
 */
export async function copyStores(from: Stores, to: Stores): Promise<CopiedStores> {
  const faults: HomeFault[] = [];
  const fault = (where: string, what: string, cure = damagedCure): void =>
    void faults.push({ where, what, cure });
  const { refs, ...artifacts } = await copyArtifacts(from, to, fault);
  for await (const where of from.contents.damagedRuns()) {
    fault(where, 'it is damaged, so the record of its run is not found');
  }
  const copied = {
    artifacts,
    replies: await copyReplies(from, to, fault),
    effects: await copyEffects(from, to, fault),
    threads: await copyThreads(from, to, fault),
    shared: await copyShared(from, to, fault),
    names: addKinds(
      await copyNames('research', [from.research, to.research], refs, async (ref, ...told) => {
        // A prune has removed it: readers take the name for one without research.
        if (ref === null || (await from.store.has(ref))) fault(...told);
      }),
      await copyNames('run', [from.index, to.index], refs, async (_ref, ...told) => fault(...told)),
    ),
    faults,
  };
  await adoptRuns(from, to);
  return copied;
}

async function adoptRuns(from: Stores, to: Stores): Promise<void> {
  const identity = await from.findIdentity();
  if (identity === null) return;
  const { home } = identity;
  const isMoved = home !== undefined && (await to.identify()).home === undefined;
  const stores = isMoved ? [identity, home] : [identity];
  await to.adopt(stores.flatMap(({ id, copied = [] }) => [id, ...copied]));
}

type Fault = (where: string, what: string, cure?: string) => void;

const damagedCure = 'restore it in the first store from a backup, then copy again';
const differsCure = 'copy into an empty store, if the first store is right';

async function copyArtifacts(
  from: Stores,
  to: Stores,
  fault: Fault,
): Promise<CopiedKind & { readonly refs: ReadonlySet<string> }> {
  let [copied, present] = [0, 0];
  const known = new Set<string>();
  for await (const ref of to.contents.artifacts()) known.add(ref);
  const copyOne = async (ref: string): Promise<void> => {
    // One that is damaged there is copied again.
    if (known.has(ref) && (await isWhole(to, ref))) {
      present += 1;
      return;
    }
    known.delete(ref);
    try {
      await to.store.put(await from.store.get(ref));
      await to.store.get(ref);
      known.add(ref);
      copied += 1;
    } catch (error) {
      if (!(error instanceof ArtifactCorrupt)) throw error;
      fault(`the artifact ${ref}`, error.message);
    }
  };
  const refs = from.contents.artifacts()[Symbol.asyncIterator]();
  const lanes = Array.from({ length: parallelMax }, async () => {
    for (;;) {
      const next = await refs.next();
      if (next.done === true) return;
      await copyOne(next.value);
    }
  });
  await Promise.all(lanes);
  return { copied, present, refs: known };
}

async function isWhole({ store }: Stores, ref: string): Promise<boolean> {
  return store.get(ref).then(
    () => true,
    (error: unknown) => (error instanceof ArtifactCorrupt ? false : Promise.reject(error)),
  );
}

/** The entries of an attempt that are copied: the last counts, and the first says when it began. */
interface ReplyAttempt {
  readonly first: string;
  readonly last: string;
  /** Unix epoch milliseconds. */
  readonly begunAt: number;
}

async function copyReplies(from: Stores, to: Stores, fault: Fault): Promise<CopiedKind> {
  const known = new Set<string>();
  for await (const entry of to.contents.replies()) known.add(nameReply(entry, true));
  const attempts = await readAttempts(from, fault);
  const copy = ({ key, attempt, value }: LedgerEntry, time: number): Promise<void> =>
    to.ledger.put(key, attempt, value, undefined, time);
  let [copied, present] = [0, 0];
  for await (const entry of from.contents.replies()) {
    const name = nameReply(entry, true);
    const attempt = attempts.get(nameReply(entry, false));
    if (attempt === undefined) continue;
    const { first, last, begunAt } = attempt;
    if (name === last) {
      attempts.delete(nameReply(entry, false));
      if (known.has(name)) present += 1;
      else {
        await copy(entry, first === last ? begunAt : Math.max(entry.written_at, begunAt + 1));
        copied += 1;
      }
    } else if (name === first && !known.has(name) && !known.has(last)) {
      // Nothing may come behind the last one.
      known.add(name);
      await copy(entry, begunAt);
    }
  }
  return { copied, present };
}

async function readAttempts(
  { contents }: Stores,
  fault: Fault,
): Promise<Map<string, ReplyAttempt>> {
  const attempts = new Map<string, ReplyAttempt>();
  const onDamaged = (place: string): void =>
    fault(place, 'a paid reply is damaged, and a repeat of its activity would pay again');
  for await (const entry of contents.replies(onDamaged)) {
    const [attempt, last] = [nameReply(entry, false), nameReply(entry, true)];
    const { first = last, begunAt = entry.written_at } = attempts.get(attempt) ?? {};
    attempts.set(attempt, { first, last, begunAt });
  }
  return attempts;
}

/** Names the attempt, or the attempt with its value. */
function nameReply({ key, attempt, value }: LedgerEntry, withValue: boolean): string {
  const name = `${hashKey(key)} ${attempt}`;
  return withValue ? `${name} ${hashBytes(JSON.stringify(value))}` : name;
}

async function copyEffects(from: Stores, to: Stores, fault: Fault): Promise<CopiedKind> {
  let [copied, present] = [0, 0];
  for await (const key of from.contents.effects()) {
    const [{ state }, there] = [await from.effects.find(key), await to.effects.find(key)];
    const where = `the entry ${key} of the effect ledger`;
    if (state === null || state === damagedEntry) fault(where, 'it is damaged');
    else if (there.version === 0) {
      await to.effects.put(key, state, 0);
      copied += 1;
    } else if (isDeepStrictEqual(there.state, state)) present += 1;
    else fault(where, 'the other store has another state of it', differsCure);
  }
  return { copied, present };
}

async function copyShared(from: Stores, to: Stores, fault: Fault): Promise<CopiedKind> {
  let [copied, present] = [0, 0];
  for (const { name, place } of await from.shared.list()) {
    if (name === null) {
      fault(`the shared value at ${place}`, 'it is damaged', `${sharedCure}. Then copy again`);
      continue;
    }
    const [{ value }, there] = [await from.shared.read(name), await to.shared.read(name)];
    if (there.version === 0) {
      await to.shared.replace(name, value, 0);
      copied += 1;
    } else if (isDeepStrictEqual(there.value, value)) present += 1;
    else fault(`the shared value ${name}`, 'the other store has another value', differsCure);
  }
  return { copied, present };
}

async function copyThreads(from: Stores, to: Stores, fault: Fault): Promise<CopiedKind> {
  let [copied, present] = [0, 0];
  // An entry has its key in the whole store: another thread may have it there.
  const known = new Map<string, string>();
  for await (const { entries } of readThreads(to)) {
    for (const entry of entries) known.set(nameEntry(entry), hashBytes(JSON.stringify(entry)));
  }
  for await (const { where, entries, unreadable } of readThreads(from)) {
    for (const entry of entries) {
      const there = known.get(nameEntry(entry));
      if (there === undefined) {
        await to.threads.append(entry);
        copied += 1;
      } else if (there === hashBytes(JSON.stringify(entry))) present += 1;
      else {
        const what = `the other store has another entry of the run ${JSON.stringify(entry.run_id)}`;
        fault(where, what, differsCure);
      }
    }
    if (unreadable > 0) fault(where, `${unreadable} of its entries and delegations can't be read`);
  }
  return { copied, present };
}

async function* readThreads({ threads }: Stores) {
  for (const { thread_id } of (await threads.list({ limit: all, userId: null })).threads) {
    const where = `the thread ${JSON.stringify(thread_id)}`;
    yield { where, ...(await threads.read(thread_id, all)) };
  }
}

/** Names an entry as a store of threads does: an entry of the same name replaces it. */
function nameEntry({ run_id, delegation_id }: ThreadEntry): string {
  return JSON.stringify([run_id, delegation_id]);
}

async function copyNames(
  kind: 'run' | 'research',
  [index, target]: readonly [from: RunIndex, to: RunIndex],
  refs: ReadonlySet<string>,
  fault: (ref: string | null, ...told: Parameters<Fault>) => Promise<void>,
): Promise<CopiedKind> {
  let [copied, present] = [0, 0];
  for (const name of await index.list()) {
    const { ref } = await index.read(name);
    const there = await target.read(name);
    const where = `the ${kind} ${JSON.stringify(name)}`;
    if (ref === null || !refs.has(ref)) await fault(ref, where, 'its record could not be copied');
    else if (there.ref === ref) present += 1;
    else if (there.version > 0)
      await fault(ref, where, 'the other store has another record', differsCure);
    else {
      await target.write(name, ref, 0);
      copied += 1;
    }
  }
  return { copied, present };
}

function addKinds(one: CopiedKind, other: CopiedKind): CopiedKind {
  return { copied: one.copied + other.copied, present: one.present + other.present };
}
