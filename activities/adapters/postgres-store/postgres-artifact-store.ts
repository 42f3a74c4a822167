import { Ref } from '../../../contracts/ref.ts';
import { createArtifactBatch } from '../../artifacts/artifact-batch.ts';
import { ArtifactCorrupt, ArtifactMissing } from '../../ports/artifact-store.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import { hashBytes } from '../../text/bytes.ts';
import { createByteCache } from '../file-store/byte-cache.ts';
import type { ByteCache } from '../file-store/byte-cache.ts';
import type { Database } from './database.ts';

/** Bytes that are read at once: the driver takes three times as much memory for them. */
const partBytes = 4 * 1024 * 1024;

/** Most bytes of artifacts that stay in memory. */
const cacheBytes = 64 * 1024 * 1024;

/**
 * Stores artifacts that may be there. One that is there becomes as young as a new one, unless it is very young, and a damaged
 * one becomes whole.
 *
 * @param rows Lists of values for `ref` and `bytes`.
 */
export const insertArtifacts = (rows: string): string =>
  `INSERT INTO planwave_artifacts AS old (ref, bytes) VALUES ${rows}
  ON CONFLICT (ref) DO UPDATE SET
    bytes = CASE WHEN old.bytes = excluded.bytes THEN old.bytes ELSE excluded.bytes END,
    stored_at = now()
  WHERE old.stored_at < now() - interval '10 minutes' OR old.bytes <> excluded.bytes`;

/** An artifact store with the cache that its ledger fills. */
export interface PostgresArtifactStore extends ArtifactStore {
  readonly cache: ByteCache;
}

/**
 * Creates a store of artifacts in a database.
 *
 * SQA1. An artifact is whole or missing.
 * SQA2. Returned bytes match their address; they were hashed after they were read.
 * SQA3. Storing an existing artifact again makes it as young as a new one, and whole if it was damaged.
 */
export function createPostgresArtifactStore(
  db: Database,
  cacheMaxBytes = cacheBytes,
): PostgresArtifactStore {
  const cache = createByteCache(cacheMaxBytes);
  const store: PostgresArtifactStore = {
    cache,
    put: async (content) => {
      // A copy, because the caller may change its bytes while they are written.
      const bytes = Buffer.from(content);
      const ref = hashBytes(bytes);
      await db.query('write', insertArtifacts('($1, $2)'), [ref, bytes]);
      cache.set(ref, bytes);
      return ref;
    },
    // Callers own the bytes that they get; cached bytes must not change.
    get: async (ref) => Uint8Array.from(await getVerified(db, cache, ref)),
    getText: async (ref) => {
      const bytes = await getVerified(db, cache, ref);
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch (error) {
        const init = { ref, path: db.place, cause: error };
        throw new ArtifactCorrupt(`The artifact ${ref} is no text.`, init);
      }
    },
    has: async (ref) => {
      const text = 'SELECT 1 FROM planwave_artifacts WHERE ref = $1';
      return (await db.query('read', text, [checkRef(db, ref)])).length > 0;
    },
    openBatch: () => createArtifactBatch(store),
  };
  return store;
}

async function getVerified(db: Database, cache: ByteCache, ref: Ref): Promise<Uint8Array> {
  const cached = cache.get(checkRef(db, ref));
  if (cached !== undefined) return cached;
  const bytes = await readBytes(db, ref);
  if (bytes === null) throw new ArtifactMissing({ ref, path: db.place });
  if (hashBytes(bytes) !== ref) {
    throw new ArtifactCorrupt(
      `The artifact ${ref} is damaged: its bytes do not fit its address (${db.place}).`,
      { ref, path: db.place },
    );
  }
  cache.set(ref, bytes);
  return bytes;
}

/** @returns null when there is none. */
async function readBytes(db: Database, ref: Ref): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = Infinity;
  for (let read = 0; read < size; read += partBytes) {
    // One after the other, so that one at a time is in memory twice.
    // oxlint-disable-next-line no-await-in-loop
    const [row] = await db.query(
      'read',
      `SELECT octet_length(bytes) AS size, substring(bytes FROM $2 FOR $3) AS part
      FROM planwave_artifacts WHERE ref = $1`,
      [ref, read + 1, partBytes],
    );
    if (row === undefined || !Buffer.isBuffer(row['part'])) return null;
    size = Number(row['size']);
    parts.push(row['part']);
  }
  return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts);
}

/** A reference may come from a model or a typed input. */
function checkRef({ place }: Database, ref: Ref): Ref {
  if (Ref.safeParse(ref).success) return ref;
  throw new ArtifactCorrupt(
    'This is no address of an artifact: expected 64 lower-case hex digits.',
    { ref, path: place },
  );
}
