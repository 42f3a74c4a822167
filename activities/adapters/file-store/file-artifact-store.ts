import type { Ref } from '../../../contracts/ref.ts';
import { decodeArtifact, checkRef, createArtifactBatch } from '../../artifacts/artifact-batch.ts';
import {
  ArtifactDamaged,
  ArtifactMissing,
  StoreUnavailable,
  type ArtifactStore,
} from '../../ports/artifact-store.ts';
import { hashBytes } from '../../text/bytes.ts';
import { segmentsFolder } from './segment-files.ts';
import { openSegments, type FoundRecord, type Segments, type SegmentsOptions } from './segments.ts';

/** The attempt of a record that is an artifact. */
const artifact = 0;

/**
 * Creates a store of artifacts as records of segments. Several processes may share one home.
 *
 * FA1. An artifact is whole or missing: a torn record does not count.
 * FA2. Returned bytes match their address; they were hashed after they were read.
 * FA3. Storing an existing artifact again writes nothing and makes it as young as a new one, unless it is damaged: then it
 *      is stored anew, and readers find the whole one.
 *
 * @param options Those of `openSegments`, or segments that a reply ledger shares.
 */
export function createFileArtifactStore(
  options: SegmentsOptions | { readonly segments: Segments },
): ArtifactStore {
  const segments = 'segments' in options ? options.segments : openSegments(options);
  const store: ArtifactStore = {
    put: (content) => put(segments, content),
    // Callers own the bytes that they get; cached bytes must not change.
    get: async (ref) => Uint8Array.from(await getVerified(segments, ref)),
    getText: (ref) => getText(segments, ref),
    has: async (ref) =>
      (await findFresh(segments, checkRef(ref, segmentsFolder(segments.home)))).length > 0,
    openBatch: () => createArtifactBatch(store),
  };
  return store;
}

async function put(segments: Segments, content: Uint8Array | string): Promise<Ref> {
  // A copy, because the caller may change its bytes while they are written.
  const body = typeof content === 'string' ? Buffer.from(content) : Uint8Array.from(content);
  const ref = hashBytes(body);
  if (!(await isStored(segments, ref)))
    await segments.append([{ key: ref, attempt: artifact, body }]);
  segments.cache.set(ref, body);
  return ref;
}

async function isStored(segments: Segments, ref: Ref): Promise<boolean> {
  for (const found of segments.find(ref)) {
    // Renewed before its bytes are looked at: a prune that has not seen it by then leaves it.
    // oxlint-disable-next-line no-await-in-loop
    if ((await segments.renew(found)) && (await readIntact(segments, found)) !== null) return true;
  }
  return false;
}

async function readIntact(segments: Segments, found: FoundRecord): Promise<Buffer | null> {
  const bytes = await segments.read(found);
  return bytes !== null && hashBytes(bytes) === found.key ? bytes : null;
}

async function getVerified(segments: Segments, ref: Ref): Promise<Uint8Array> {
  const cached = segments.cache.get(checkRef(ref, segmentsFolder(segments.home)));
  if (cached !== undefined) return cached;
  let damaged: FoundRecord | undefined;
  // What is known may be old: the second time everything about these segments is read again.
  for (let tries = 0; tries < 2; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop
    for (const found of await findFresh(segments, ref)) {
      // oxlint-disable-next-line no-await-in-loop
      const bytes = await readIntact(segments, found);
      if (bytes !== null) {
        segments.cache.set(ref, bytes);
        return bytes;
      }
      damaged = found;
      segments.forget(found.id);
    }
  }
  const path = segmentsFolder(segments.home);
  if (damaged === undefined || (await findFresh(segments, ref)).length === 0) {
    throw new ArtifactMissing({ ref, path });
  }
  const where = `"${damaged.path}", byte ${damaged.offset}`;
  throw new ArtifactDamaged({ ref, path: damaged.path, where });
}

/** Finds the records of an artifact, also those that another process has just stored. */
async function findFresh(segments: Segments, ref: Ref): Promise<readonly FoundRecord[]> {
  const found = segments.find(ref);
  if (found.length > 0) return found;
  const isThere = await segments.refresh();
  if (isThere) return segments.find(ref);
  // An unmounted disk must not look like a lost artifact: there, waiting helps.
  const path = segmentsFolder(segments.home);
  throw new StoreUnavailable(
    `Can't read "${path}": the directory does not exist (ENOENT). Try: create or mount it, or point PLANWAVE_HOME at another ` +
      'directory and restart the worker. The run waits and continues by itself.',
    { path, code: 'ENOENT' },
  );
}

async function getText(segments: Segments, ref: Ref): Promise<string> {
  return decodeArtifact(await getVerified(segments, ref), ref, segmentsFolder(segments.home));
}
