import type { Ref } from '../../contracts/ref.ts';
import type { ArtifactBatch, ArtifactStore } from '../ports/artifact-store.ts';
import { hashBytes } from '../text/bytes.ts';

/** Creates a batch that reads what it does not hold from `store`. */
export function createArtifactBatch(store: ArtifactStore): ArtifactBatch {
  const staged = new Map<Ref, Uint8Array>();
  return {
    staged,
    put: async (content) => {
      const bytes = Buffer.from(content);
      const ref = hashBytes(bytes);
      staged.set(ref, bytes);
      return ref;
    },
    get: async (ref) => {
      const bytes = staged.get(ref);
      return bytes === undefined ? store.get(ref) : Uint8Array.from(bytes);
    },
    getText: async (ref) => {
      const bytes = staged.get(ref);
      return bytes === undefined ? store.getText(ref) : Buffer.from(bytes).toString('utf8');
    },
    has: async (ref) => staged.has(ref) || store.has(ref),
    openBatch: () => createArtifactBatch(store),
  };
}
