import type { CheckedHome, Pruned, StoreIdentity } from '../../contracts/store.ts';
import type { ArtifactStore, IdentifyStore, RunIndex } from './artifact-store.ts';
import type { EffectLedger } from './effect-ledger.ts';
import type { LedgerEntry, ReplyLedger } from './reply-ledger.ts';
import type { SharedValues } from './shared-values.ts';
import type { ThreadStore } from './thread-store.ts';

/** Everything that planwave stores besides the files for people: one store of all workers and clients that share their runs. */
export interface Stores {
  /** The folder, or the address of the database without user and password. */
  readonly place: string;
  readonly store: ArtifactStore;
  /** The newest record of each run. */
  readonly index: RunIndex;
  /** The newest research on each technology. */
  readonly research: RunIndex;
  readonly ledger: ReplyLedger;
  readonly effects: EffectLedger;
  readonly shared: SharedValues;
  readonly threads: ThreadStore;
  readonly contents: StoreContents;

  /**
   * Takes the store into use: marks a new home, or makes the tables of a new database.
   *
   * @returns why this planwave can't use it, with a cure; null when it can.
   * @throws {StoreUnavailable} when the store can't be reached.
   */
  open(): Promise<string | null>;

  /** Looks for the same faults as `open`, and changes nothing. @throws {StoreUnavailable} when the store can't be reached. */
  findFault(): Promise<string | null>;

  /** Identifies an opened store, which keeps its id for ever. */
  readonly identify: IdentifyStore;

  /** Identifies a store that perhaps nobody has opened: then null. @throws {StoreUnavailable} when it can't be reached. */
  findIdentity(): Promise<StoreIdentity | null>;

  /** Notes that stores with these ids were copied into this one, so that it is right for their runs. @throws {StoreUnavailable} */
  adopt(ids: readonly string[]): Promise<void>;

  /**
   * Removes runs that ended long ago: their files for people in this home, their entries in the index, and all artifacts and
   * entries of the ledgers that no other run needs.
   *
   * @throws {ArtifactCorrupt} when the record of a run can't be read. Nothing was then removed.
   * @throws {StoreUnavailable} when the store can't be read or written.
   */
  prune(options: PruneOptions): Promise<Pruned>;

  /**
   * Reads everything and looks for damage.
   *
   * @throws {StoreUnavailable} when the store can't be read, or a repair can't write.
   */
  check(options: CheckOptions): Promise<CheckedHome>;

  /** Closes connections. A closed store connects again when it is used. */
  close(): Promise<void>;
}

/** Lists what a store holds, to copy or check it. */
export interface StoreContents {
  /** @throws {StoreUnavailable} when the store can't be read. */
  artifacts(): AsyncIterable<string>;
  /**
   * Entries of the reply ledger, oldest first; of one attempt the last counts. Damaged ones are left out.
   *
   * @param onDamaged Called with the place of each of those. If undefined, nothing tells of them.
   * @throws {StoreUnavailable} when the store can't be read.
   */
  replies(onDamaged?: (place: string) => void): AsyncIterable<LedgerEntry>;
  /** Places of damaged entries of the run index, which does not list them. @throws {StoreUnavailable} when the store can't be read. */
  damagedRuns(): AsyncIterable<string>;
  /** Keys of the effect ledger. @throws {StoreUnavailable} when the store can't be read. */
  effects(): AsyncIterable<string>;
}

export interface CheckOptions {
  /** Removes what no reader needs. */
  readonly repair: boolean;
  /** Removes objects of a bucket that nothing in the database has named for a day. If undefined: they are only reported. */
  readonly removeOrphans?: boolean;
}

export interface PruneOptions {
  /** Unix epoch seconds. Runs that ended before are removed. */
  readonly endedBefore: number;
  /** Counts only, and removes nothing. */
  readonly dryRun: boolean;
}
