import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';
import { readRecord } from './record-log.ts';

/** A run of the index. */
export interface IndexedRun {
  readonly record: RunRecord;
  readonly ref: Ref;
  readonly version: number;
}

/** Result of `planPrune`. */
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
 * @param isStored Tells whether an artifact is stored that is older than the prune.
 * @param endedBefore Unix epoch seconds. Runs that ended before are removed.
 * @throws {ArtifactCorrupt} when the record of a run can't be read.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function planPrune({
  store,
  index,
  isStored,
  endedBefore,
}: {
  readonly store: ArtifactStore;
  readonly index: RunIndex;
  readonly isStored: (ref: Ref) => boolean;
  readonly endedBefore: number;
}): Promise<PrunePlan> {
  const runs = await readRuns(store, index);
  const removed = runs.filter(({ record }) => isOver(record, endedBefore));
  const kept = runs.filter(({ record }) => !isOver(record, endedBefore));
  const marked = await markAll(store, isStored, kept);
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
