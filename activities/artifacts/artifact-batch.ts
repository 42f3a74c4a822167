import { Ref } from '../../contracts/ref.ts';
import {
  ArtifactCorrupt,
  type ArtifactBatch,
  type ArtifactStore,
} from '../ports/artifact-store.ts';
import { decodeUtf8, hashBytes } from '../text/bytes.ts';

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

/** Checks a reference, which may come from a model or a typed input. @param path The store's. @throws ArtifactCorrupt */
export function checkRef(ref: Ref, path: string): Ref {
  if (Ref.safeParse(ref).success) return ref;
  throw new ArtifactCorrupt(
    'This is no address of an artifact: expected 64 lower-case hex digits.',
    { ref, path },
  );
}

/** @param path The store's. @throws ArtifactCorrupt for an artifact that is no text */
export function decodeArtifact(bytes: Uint8Array, ref: Ref, path: string): string {
  const text = decodeUtf8(bytes);
  if (text !== null) return text;
  throw new ArtifactCorrupt(`The artifact ${ref} is no text.`, { ref, path });
}
