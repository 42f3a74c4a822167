import { createHash } from 'node:crypto';
import type { Ref } from '../../contracts/ref.ts';
import { ArtifactMissing, StoreUnavailable } from '../../activities/ports/artifact-store.ts';
import type { ArtifactStore } from '../../activities/ports/artifact-store.ts';
import { createArtifactBatch } from '../../activities/artifacts/artifact-batch.ts';

/** Artifact store in memory that can be made to fail. */
export interface MemoryStore extends ArtifactStore {
  readonly artifacts: Map<Ref, Uint8Array>;
  /** Number of the next writes that fail. */
  failingWrites: number;
  /** Number of writes that failed so far. */
  failedWrites: number;
}

export function createMemoryStore(): MemoryStore {
  const artifacts = new Map<Ref, Uint8Array>();
  const read = (ref: Ref): Uint8Array => {
    const bytes = artifacts.get(ref);
    if (bytes !== undefined) return bytes;
    throw new ArtifactMissing({ ref, path: ref });
  };
  const store: MemoryStore = {
    artifacts,
    failingWrites: 0,
    failedWrites: 0,
    put: async (content) => {
      if (store.failingWrites > 0) {
        store.failingWrites -= 1;
        store.failedWrites += 1;
        throw new StoreUnavailable('The disk is full.', { path: 'objects', code: 'ENOSPC' });
      }
      const bytes = Uint8Array.from(Buffer.from(content));
      const ref = createHash('sha256').update(bytes).digest('hex');
      artifacts.set(ref, bytes);
      return ref;
    },
    get: async (ref) => Uint8Array.from(read(ref)),
    getText: async (ref) => Buffer.from(read(ref)).toString('utf8'),
    has: async (ref) => artifacts.has(ref),
    openBatch: () => createArtifactBatch(store),
  };
  return store;
}
