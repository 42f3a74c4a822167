import { lstat, lutimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Ref } from '../../../contracts/ref.ts';
import {
  ArtifactCorrupt,
  ArtifactMissing,
  type ArtifactStore,
} from '../../ports/artifact-store.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { createByteCache, type ByteCache } from './byte-cache.ts';
import { checkInside, syncDirectory } from './confinement.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';
import { hashBytes } from '../../text/bytes.ts';

export interface FileArtifactStoreOptions {
  /** Directory that planwave owns; created when something is stored. */
  readonly home: string;
  /** Most bytes of read artifacts that stay in memory. Default 64 MiB; 0 keeps nothing. */
  readonly cacheMaxBytes?: number;
}

/**
 * Creates a store of artifacts as files, `<home>/objects/ab/<rest of the hash>`. Several processes may share one home.
 *
 * FA1. A file under an address is whole or missing: it is written under another name and renamed.
 * FA2. Returned bytes match their address; they were hashed after they were read.
 * FA3. Storing an existing artifact again changes only the time of its file, unless it is damaged: then it is repaired.
 */
export function createFileArtifactStore(options: FileArtifactStoreOptions): ArtifactStore {
  const store: Store = {
    home: options.home,
    cache: createByteCache(options.cacheMaxBytes ?? 64 * 1024 * 1024),
  };
  return {
    put: (bytes) => put(store, bytes),
    // Callers own the bytes that they get; cached bytes must not change.
    get: async (ref) => Uint8Array.from(await getVerified(store, ref)),
    getText: (ref) => getText(store, ref),
    has: (ref) => has(store, ref),
  };
}

interface Store {
  readonly home: string;
  readonly cache: ByteCache;
}

async function put(store: Store, content: Uint8Array | string): Promise<Ref> {
  // A copy, because the caller may change its bytes while they are written.
  const bytes = typeof content === 'string' ? Buffer.from(content) : Uint8Array.from(content);
  const ref = hashBytes(bytes);
  const path = toPath(store, ref);
  await touch(path);
  if (await isIntact(store, path, ref)) {
    // Its writer may have died before its name was safe.
    await syncDirectory(dirname(path)).catch((error: unknown) => {
      throw toStoreUnavailable('write', path, error);
    });
  } else {
    // The path was checked when the file was looked up.
    await atomicWriteFile(path, bytes);
  }
  store.cache.set(ref, bytes);
  return ref;
}

/** Tells `pruneHome` that the artifact is in use again, before its bytes are looked at. */
async function touch(path: string): Promise<void> {
  const now = new Date();
  // A file that is missing or can't be changed is found out by what follows.
  await lutimes(path, now, now).catch(() => {});
}

async function isIntact(store: Store, path: string, ref: Ref): Promise<boolean> {
  const bytes = await readFileInside(store.home, path);
  return bytes !== null && hashBytes(bytes) === ref;
}

async function getVerified(store: Store, ref: Ref): Promise<Uint8Array> {
  const path = toPath(store, ref);
  const cached = store.cache.get(ref);
  if (cached !== undefined) return cached;
  const bytes = await readFileInside(store.home, path);
  if (bytes === null) {
    // An unmounted disk must not look like a lost artifact: there, waiting helps.
    await checkObjectsExist(store);
    throw new ArtifactMissing({ ref, path });
  }
  if (hashBytes(bytes) !== ref) {
    throw new ArtifactCorrupt(
      `The artifact "${path}" is damaged: its bytes do not fit its address.`,
      { ref, path },
    );
  }
  store.cache.set(ref, bytes);
  return bytes;
}

async function getText(store: Store, ref: Ref): Promise<string> {
  const bytes = await getVerified(store, ref);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const path = toPath(store, ref);
    throw new ArtifactCorrupt(`The artifact "${path}" is no text.`, { ref, path, cause: error });
  }
}

async function has(store: Store, ref: Ref): Promise<boolean> {
  const path = toPath(store, ref);
  try {
    await checkInside(store.home, path);
    return (await lstat(path)).isFile();
  } catch (error) {
    if (getCode(error) !== 'ENOENT') throw toStoreUnavailable('read', path, error);
  }
  await checkObjectsExist(store);
  return false;
}

async function checkObjectsExist(store: Store): Promise<void> {
  const objects = join(store.home, 'objects');
  await lstat(objects).catch((error: unknown) => {
    throw toStoreUnavailable('read', objects, error);
  });
}

function toPath(store: Store, ref: Ref): string {
  // A reference may come from a model or a typed input; it must not become a path unchecked.
  const parsed = Ref.safeParse(ref);
  if (!parsed.success) {
    const path = join(store.home, 'objects');
    throw new ArtifactCorrupt(
      'This is no address of an artifact: expected 64 lower-case hex digits.',
      {
        ref,
        path,
      },
    );
  }
  return join(store.home, 'objects', ref.slice(0, 2), ref.slice(2));
}
