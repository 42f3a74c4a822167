import type { Ref } from '../../contracts/ref.ts';
import type { StoreIdentity } from '../../contracts/store.ts';

/**
 * Content-addressed store of immutable texts and bytes. The address is the SHA-256 of the content, so the same content
 * is stored once, a retry changes nothing, and a reader recognises a damaged artifact.
 */
export interface ArtifactStore {
  /**
   * Stores `bytes` (a string as UTF-8, a lone surrogate as U+FFFD) and returns the address. When the promise resolves,
   * the artifact survives a power cut.
   *
   * @throws {StoreUnavailable} when the store can't be written.
   */
  put(bytes: Uint8Array | string): Promise<Ref>;

  /**
   * Returns the bytes of `ref`, verified against it. The caller owns them.
   *
   * @throws {ArtifactCorrupt} when the artifact is missing or damaged, or the reference is none.
   * @throws {StoreUnavailable} when the store can't be read.
   */
  get(ref: Ref): Promise<Uint8Array>;

  /** Returns the bytes decoded as UTF-8. Throws like `get`; bytes that are no UTF-8 are an `ArtifactCorrupt`. */
  getText(ref: Ref): Promise<string>;

  /**
   * Returns true when an artifact is stored under `ref`. Does not read its bytes: `get` may still find it damaged.
   *
   * @throws {StoreUnavailable} when the store can't be read.
   */
  has(ref: Ref): Promise<boolean>;

  openBatch(): ArtifactBatch;
}

/**
 * Artifacts that are stored together with a ledger entry, by one write. `put` keeps them in memory, and readers of the batch
 * find them at once. Without the entry they are never stored.
 */
export interface ArtifactBatch extends ArtifactStore {
  readonly staged: ReadonlyMap<Ref, Uint8Array>;
}

/** Reference under a name, with the number of its writes. */
export interface IndexEntry {
  /** null when the name was never written, or its entry is damaged. */
  readonly ref: Ref | null;
  /** 0 before the first write, one more with each write. */
  readonly version: number;
}

/** Mutable names for artifacts: the newest record of each run. */
export interface RunIndex {
  /**
   * Points `name` at `ref` in one step, if no other writer has written since version `after` was read. Any string is a
   * name; two names that differ in a single code unit are two entries on every file system.
   *
   * @returns false when another writer was first. Then the entry is theirs, however long this writer was delayed.
   * @throws {StoreUnavailable} when the index can't be written.
   */
  write(name: string, ref: Ref, after: number): Promise<boolean>;

  /**
   * Returns the entry of `name`.
   *
   * @throws {StoreUnavailable} when the index can't be read.
   */
  read(name: string): Promise<IndexEntry>;

  /**
   * Returns all names, sorted by code unit.
   *
   * @throws {StoreUnavailable} when the index can't be read.
   */
  list(): Promise<string[]>;
}

/**
 * Identifies the store that this process uses. Asked before the store or a ledger is read, because a home may be unmounted
 * or another one mounted while a worker works.
 *
 * @throws {StoreUnavailable} when the store can't be reached.
 */
export type IdentifyStore = () => Promise<StoreIdentity>;

/** The store can't be read or written. The message names the path, the reason and a cure. A retry may succeed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly type = 'StoreUnavailable';
  readonly path: string;
  /** The operating system's code, such as `ENOSPC`, or null. */
  readonly code: string | null;

  constructor(message: string, init: { path: string; code: string | null; cause?: unknown }) {
    super(message, { cause: init.cause });
    this.path = init.path;
    this.code = init.code;
  }
}

/** Encrypted content whose key is not there: what is stored can be checked, but not read. */
export class KeyUnavailable extends StoreUnavailable {}

/**
 * A stored artifact is missing, damaged or of another shape. The message names the path. A retry can't help.
 */
export class ArtifactCorrupt extends Error {
  override readonly name = 'ArtifactCorrupt';
  readonly type: 'ArtifactCorrupt' | 'ArtifactMissing' | 'ArtifactDamaged' = 'ArtifactCorrupt';
  readonly ref: Ref;
  readonly path: string;

  constructor(message: string, init: { ref: Ref; path: string; cause?: unknown }) {
    super(message, { cause: init.cause });
    this.ref = init.ref;
    this.path = init.path;
  }
}

/** A stored artifact's bytes do not match its address. The run parks until it is restored. */
export class ArtifactDamaged extends ArtifactCorrupt {
  override readonly type = 'ArtifactDamaged';

  /** @param where File and byte, or store. */
  constructor({ where, ...init }: { ref: Ref; path: string; where: string }) {
    super(
      `The artifact ${init.ref} is damaged: its bytes do not fit its address (${where}). ` +
        'Try: restore it from a backup, then resume the run',
      init,
    );
  }
}

/** A stored artifact is not in this home. The run parks until it is back. */
export class ArtifactMissing extends ArtifactCorrupt {
  override readonly type = 'ArtifactMissing';

  constructor(init: { ref: Ref; path: string }) {
    super(
      `The artifact ${init.ref} is missing in "${init.path}": this worker has another PLANWAVE_HOME than the one that wrote it, or files ` +
        'were lost. Try: give the worker the home of this run or restore the file, then resume the run',
      init,
    );
  }
}
