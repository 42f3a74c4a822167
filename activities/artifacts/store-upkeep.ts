import type { Ref } from '../../contracts/ref.ts';
import { isRecord } from '../../core/json.ts';
import type { CheckedHome, HomeFault } from '../../contracts/store.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { countOf } from '../../core/text/format.ts';
import { messageOf } from '../../core/text/message-of.ts';
import {
  ArtifactCorrupt,
  KeyUnavailable,
  type ArtifactStore,
  type RunIndex,
} from '../ports/artifact-store.ts';
import { readRecord } from './record-log.ts';

/** The cure of damage that only a backup repairs. */
export const restore = 'restore it from a backup, then resume the runs that need it';

/**
 * Looks up everything that the records of the runs lead to, by the fields that hold references. A record whose key is not there
 * is not followed.
 *
 * @param whole Addresses of artifacts that were found whole.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function checkRecords(
  store: ArtifactStore,
  index: RunIndex,
  whole: ReadonlySet<Ref>,
): Promise<Pick<CheckedHome, 'faults' | 'unchecked'>> {
  const checked = new Set<Ref>();
  const faults: HomeFault[] = [];
  const unread: KeyUnavailable[] = [];
  for (const name of await index.list()) {
    const { ref } = await index.read(name);
    if (ref === null) continue;
    const found = await checkRun(store, name, ref, { whole, checked }).catch((error: unknown) => {
      if (!(error instanceof KeyUnavailable)) throw error;
      unread.push(error);
      return [];
    });
    faults.push(...found);
  }
  const [first] = unread;
  return { faults, ...(first !== undefined && { unchecked: [describeUnread(first, unread)] }) };
}

function describeUnread({ cause }: KeyUnavailable, { length }: readonly unknown[]): HomeFault {
  const [reason = '', cure = 'compare PLANWAVE_KEYS with those of the workers'] =
    messageOf(cause).split(' Try: ');
  return {
    where: `the records of ${countOf(length, 'run')}`,
    what: `they were not followed, and only addresses were checked. ${reason.replace(/\.$/, '')}`,
    cure,
  };
}

/** Addresses of artifacts, by what is known of them. */
interface Checked {
  readonly whole: ReadonlySet<Ref>;
  /** Those that were looked at for an earlier run. */
  readonly checked: Set<Ref>;
}

async function checkRun(
  store: ArtifactStore,
  name: string,
  from: Ref,
  { whole, checked }: Checked,
): Promise<readonly HomeFault[]> {
  const faults: HomeFault[] = [];
  const fault = (what: string): void => {
    faults.push({ where: `the run ${JSON.stringify(name)}`, what, cure: restore });
  };
  const waiting: [ref: Ref, namedBy: string][] = [[from, 'the index']];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [ref, namedBy] = next;
    if (checked.has(ref)) continue;
    checked.add(ref);
    // Another process may have stored it since.
    // oxlint-disable-next-line no-await-in-loop
    const bytes = whole.has(ref) || (await store.has(ref)) ? await readOrNull(store, ref) : null;
    if (bytes === null) fault(`the artifact ${ref} is missing or damaged; ${namedBy} names it`);
    else for (const one of refsIn(parseJson(bytes))) waiting.push([one, `the artifact ${ref}`]);
  }
  if (faults.length > 0) return faults;
  await readRecord(store, from).catch((error: unknown) => {
    if (!(error instanceof ArtifactCorrupt)) throw error;
    fault(error.message);
  });
  return faults;
}

async function readOrNull(store: ArtifactStore, ref: Ref): Promise<Uint8Array | null> {
  return store.get(ref).catch((error: unknown) => {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

/** Finds the references of a document by the names of their fields: a text may hold hashes that are no addresses. */
function refsIn(value: unknown, field = ''): readonly Ref[] {
  if (Array.isArray(value)) return value.flatMap((one) => refsIn(one, field));
  if (isRecord(value)) return Object.entries(value).flatMap(([name, one]) => refsIn(one, name));
  const isRef = /^(?:ref|\w+_ref|parent|head)$/.test(field);
  return isRef && typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? [value] : [];
}

/** A run of the index. */
export interface IndexedRun {
  readonly record: RunRecord;
  readonly ref: Ref;
  readonly version: number;
}

export interface PrunePlan {
  readonly removed: readonly IndexedRun[];
  /** Addresses of everything that the records of the other runs lead to. */
  readonly marked: ReadonlySet<Ref>;
  /** Unix epoch milliseconds. What was stored at this time or later stays. */
  readonly before: number;
  /** The open run that began first, if it keeps what is older than asked for; null without one. */
  readonly keptBy: string | null;
}

const clockSkewSeconds = 3_600;

/**
 * Finds out what a prune may remove.
 *
 * @param listStored Looks up what is stored. Called once the index was read: a worker stores what a record leads to before the
 * record, so nothing that these lead to is missing.
 * @param endedBefore Unix epoch seconds. Runs that ended before are removed.
 * @throws {ArtifactCorrupt} when the record of a run can't be read.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function planPrune({
  store,
  index,
  listStored,
  endedBefore,
}: {
  readonly store: ArtifactStore;
  readonly index: RunIndex;
  readonly listStored: () => Promise<(ref: Ref) => boolean>;
  readonly endedBefore: number;
}): Promise<PrunePlan> {
  const runs = await readRuns(store, index);
  const removed = runs.filter(({ record }) => isOver(record, endedBefore));
  const kept = runs.filter(({ record }) => !isOver(record, endedBefore));
  const marked = await markAll(store, await listStored(), kept);
  const oldest = kept
    .map(({ record }) => record)
    .filter(({ status }) => status === null)
    .reduce<RunRecord | null>(
      (first, one) => (first === null || one.started_at < first.started_at ? one : first),
      null,
    );
  const openSince = (oldest?.started_at ?? Infinity) - clockSkewSeconds;
  return {
    removed,
    marked,
    before: Math.min(endedBefore, openSince) * 1_000,
    keptBy: oldest !== null && openSince < endedBefore ? oldest.run_id : null,
  };
}

function isOver({ status, updated_at }: RunRecord, endedBefore: number): boolean {
  return status !== null && updated_at < endedBefore;
}

async function readRuns(store: ArtifactStore, index: RunIndex): Promise<readonly IndexedRun[]> {
  const runs: IndexedRun[] = [];
  for (const name of await index.list()) {
    const { ref, version } = await index.read(name);
    if (ref !== null) runs.push({ record: await readRecord(store, ref), ref, version });
  }
  return runs;
}

async function markAll(
  store: ArtifactStore,
  isStored: (ref: Ref) => boolean,
  runs: readonly IndexedRun[],
): Promise<ReadonlySet<Ref>> {
  const marked = new Set<Ref>();
  const waiting: Ref[] = runs.map(({ ref }) => ref);
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    // A text may also hold hashes that are no addresses.
    if (marked.has(ref) || !isStored(ref)) continue;
    marked.add(ref);
    const text = Buffer.from(await store.get(ref)).toString('latin1');
    waiting.push(...(text.match(/[0-9a-f]{64}/g) ?? []));
  }
  return marked;
}
