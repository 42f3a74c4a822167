import type { Ref } from '../../../contracts/ref.ts';
import { decodeArtifact, checkRef, createArtifactBatch } from '../../artifacts/artifact-batch.ts';
import {
  ArtifactDamaged,
  ArtifactMissing,
  StoreUnavailable,
  type ArtifactStore,
} from '../../ports/artifact-store.ts';
import { hashBytes } from '../../text/bytes.ts';
import { createLruCache, type LruCache } from '../../artifacts/lru-cache.ts';
import type { Bucket } from './bucket.ts';
import type { Database } from './database.ts';

/** Bytes that are read at once: the driver takes three times as much memory for them. */
const partBytes = 4 * 1024 * 1024;

/** Most bytes of artifacts that stay in memory. */
const cacheBytes = 64 * 1024 * 1024;

/** Objects of a bucket that are written at once. */
const parallelMax = 16;

/**
 * Stores artifacts that may be there. One that is there becomes as young as a new one, unless it is very young, and a damaged
 * one becomes whole.
 *
 * @param rows Lists of values for `ref` and `bytes`.
 */
const insertBytes = (rows: string): string =>
  `INSERT INTO planwave_artifacts AS old (ref, bytes) VALUES ${rows}
  ON CONFLICT (ref) DO UPDATE SET
    bytes = CASE WHEN old.bytes = excluded.bytes THEN old.bytes ELSE excluded.bytes END,
    is_damaged = false,
    stored_at = now()
  WHERE old.stored_at < now() - interval '10 minutes' OR old.bytes IS DISTINCT FROM excluded.bytes
  RETURNING object`;

/**
 * Names the objects of artifacts. One that is there and whole keeps its object, and becomes as young as a new one unless it is
 * very young.
 *
 * @param rows Values for `ref`, `object` and `size`.
 * @param deadline Value of the time from which on the statement fails.
 */
const insertObjects = (rows: string, deadline: string): string =>
  // A reference that is null is refused, and the whole statement with it.
  `INSERT INTO planwave_artifacts AS old (ref, object, size)
  SELECT CASE WHEN now() < ${deadline}::timestamptz THEN ref END, object, size
  FROM (VALUES ${rows}) AS fresh (ref, object, size)
  ON CONFLICT (ref) DO UPDATE SET
    bytes = CASE WHEN NOT old.is_damaged THEN old.bytes END,
    object = CASE WHEN old.is_damaged THEN excluded.object ELSE old.object END,
    size = CASE WHEN old.is_damaged THEN excluded.size ELSE old.size END,
    is_damaged = false,
    stored_at = now()
  WHERE old.is_damaged OR old.stored_at < now() - interval '10 minutes'
  RETURNING object`;

/** Lists those that are there and whole, and makes them as young as new ones. */
const renewed = `WITH renewed AS (
    UPDATE planwave_artifacts SET stored_at = now()
    WHERE ref = ANY($1::text[]) AND NOT is_damaged AND stored_at < now() - interval '10 minutes' RETURNING ref)
  SELECT ref FROM renewed UNION ALL SELECT ref FROM planwave_artifacts
    WHERE ref = ANY($1::text[]) AND NOT is_damaged AND stored_at >= now() - interval '10 minutes'`;

/**
 * Milliseconds from the beginning of an upload to the row that names it, at most. A worker that was suspended in between fails:
 * its object may be gone.
 */
const namedWithinMs = 12 * 3_600_000;

/** Milliseconds after which an object without a row is left over. Twice as long, because clocks differ. */
export const orphanAfterMs = 2 * namedWithinMs;

type Artifact = readonly [ref: Ref, bytes: Uint8Array];

/** A statement that stores artifacts, alone or beside another one. */
export interface Insertion {
  /**
   * Returns the statement, whose parameters begin at a number; null when there is nothing to store. It returns a row with the
   * `object` of each artifact that it has changed, null for one in the database.
   */
  readonly statement: (first: number) => string | null;
  readonly values: readonly unknown[];
  /**
   * Tidies up after the statement.
   *
   * @param named Objects that it returned; fewer when it was repeated.
   */
  readonly settle: (named: readonly unknown[]) => Promise<void>;
}

/** An artifact store with the cache that its ledger fills. */
export interface PostgresArtifactStore extends ArtifactStore {
  readonly cache: LruCache<Uint8Array>;
  /**
   * Writes objects of a bucket, and prepares what is stored in the database.
   *
   * @param areNew Artifacts of a paid reply, which are seldom there already: the database is not asked before they are written.
   * @throws {StoreUnavailable}
   */
  prepare(artifacts: readonly Artifact[], areNew: boolean): Promise<Insertion>;
}

/** Place of the bytes of artifacts. */
export interface ArtifactPlace {
  readonly db: Database;
  /** The bucket of new artifacts; null: they are in the database. */
  readonly bucket: Bucket | null;
  /** Both in words. */
  readonly place: string;
  /** Returns the id of the store. @throws {StoreUnavailable} */
  readonly owner: () => Promise<string>;
}

/**
 * Creates a store of artifacts in a database, or in a bucket whose objects the database names. Those that are in the database
 * already are read from there.
 *
 * SQA1. An artifact is whole or missing.
 * SQA2. Returned bytes match their address; they were hashed after they were read.
 * SQA3. Storing an existing artifact again makes it as young as a new one, and whole if it was damaged. For one in a bucket a
 *       reader has to have found the damage.
 * SQA4. An object is whole before a row names it, and its row is gone before it is removed.
 * SQA5. An object that no row has named for a day is never named, and may be removed.
 */
export function createPostgresArtifactStore(
  at: ArtifactPlace,
  cacheMaxBytes = cacheBytes,
): PostgresArtifactStore {
  const { db, bucket, place } = at;
  const cache = createLruCache<Uint8Array>(cacheMaxBytes, ({ byteLength }) => byteLength);
  const store: PostgresArtifactStore = {
    cache,
    prepare: async (artifacts, areNew) => {
      if (bucket === null) return prepareBytes(artifacts);
      return prepareObjects(at, bucket, areNew ? artifacts : await listMissing(db, artifacts));
    },
    put: async (content) => {
      // A copy, because the caller may change its bytes while they are written.
      const bytes = Buffer.from(content);
      const ref = hashBytes(bytes);
      const { statement, values, settle } = await store.prepare([[ref, bytes]], false);
      const text = statement(1);
      const rows = text === null ? [] : await db.query('write', text, values);
      await settle(rows.map(({ object }) => object));
      cache.set(ref, bytes);
      return ref;
    },
    // Callers own the bytes that they get; cached bytes must not change.
    get: async (ref) => Uint8Array.from(await getVerified(at, cache, ref)),
    getText: async (ref) => decodeArtifact(await getVerified(at, cache, ref), ref, place),
    has: async (ref) => {
      const text = 'SELECT 1 FROM planwave_artifacts WHERE ref = $1';
      return (await db.query('read', text, [checkRef(ref, db.place)])).length > 0;
    },
    openBatch: () => createArtifactBatch(store),
  };
  return store;
}

/** Returns `($1, $2), ($3, $4)`. */
function listParameters(count: number, types: readonly string[], first: number): string {
  const row = (nth: number): string =>
    types.map((type, at) => `$${first + nth * types.length + at}::${type}`).join(', ');
  return Array.from({ length: count }, (_, nth) => `(${row(nth)})`).join(', ');
}

function prepareBytes(artifacts: readonly Artifact[]): Insertion {
  const { length } = artifacts;
  return {
    statement: (first) =>
      length === 0 ? null : insertBytes(listParameters(length, ['text', 'bytea'], first)),
    values: artifacts.flat(),
    settle: async () => {},
  };
}

/** Returns the artifacts that are not there, or damaged, and makes the others as young as new ones. */
async function listMissing(
  db: Database,
  artifacts: readonly Artifact[],
): Promise<readonly Artifact[]> {
  const known = await db.query('write', renewed, [artifacts.map(([ref]) => ref)]);
  const stored = new Set(known.map(({ ref }) => ref));
  return artifacts.filter(([ref]) => !stored.has(ref));
}

async function prepareObjects(
  { db, owner }: ArtifactPlace,
  bucket: Bucket,
  artifacts: readonly Artifact[],
): Promise<Insertion> {
  const { length } = artifacts;
  if (length === 0) return { statement: () => null, values: [], settle: async () => {} };
  const objects: string[] = [];
  const deadline = new Date(Date.now() + namedWithinMs);
  const id = await owner();
  for (let at = 0; at < length; at += parallelMax) {
    const part = artifacts.slice(at, at + parallelMax);
    // oxlint-disable-next-line no-await-in-loop -- so many at once
    objects.push(...(await Promise.all(part.map(([ref, bytes]) => bucket.put(ref, bytes, id)))));
  }
  const types = ['text', 'text', 'bigint'];
  const rows = artifacts.flatMap(([ref, bytes], nth) => [ref, objects[nth], bytes.byteLength]);
  return {
    statement: (first) =>
      insertObjects(listParameters(length, types, first), `$${first + rows.length}`),
    values: [...rows, deadline],
    settle: async (named) => {
      const unsure = objects.filter((object) => !named.includes(object));
      if (unsure.length === 0) return;
      const sql = 'SELECT object FROM planwave_artifacts WHERE object = ANY($1::text[])';
      const kept = new Set((await db.query('read', sql, [unsure])).map(({ object }) => object));
      // Another writer of the same content was first.
      await Promise.all(unsure.filter((one) => !kept.has(one)).map((one) => bucket.remove(one)));
    },
  };
}

async function getVerified(
  at: ArtifactPlace,
  cache: LruCache<Uint8Array>,
  ref: Ref,
): Promise<Uint8Array> {
  const { db, place } = at;
  const cached = cache.get(checkRef(ref, db.place));
  if (cached !== undefined) return cached;
  const bytes = await readBytes(at, ref);
  if (bytes === null) throw new ArtifactMissing({ ref, path: place });
  if (hashBytes(bytes) !== ref) {
    await noteDamage(db, ref);
    throw new ArtifactDamaged({ ref, path: place, where: place });
  }
  cache.set(ref, bytes);
  return bytes;
}

/** Notes that an artifact has to be stored again. */
async function noteDamage(db: Database, ref: Ref): Promise<void> {
  const sql = `UPDATE planwave_artifacts SET is_damaged = true WHERE ref = $1 AND NOT is_damaged`;
  await db.query('write', sql, [ref]);
}

/** @returns null when there is none. */
async function readBytes({ db, bucket, place }: ArtifactPlace, ref: Ref): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = Infinity;
  for (let read = 0; read < size; read += partBytes) {
    // One after the other, so that one at a time is in memory twice.
    // oxlint-disable-next-line no-await-in-loop
    const [row] = await db.query(
      'read',
      `SELECT octet_length(bytes) AS size, substring(bytes FROM $2 FOR $3) AS part, object
      FROM planwave_artifacts WHERE ref = $1`,
      [ref, read + 1, partBytes],
    );
    if (row === undefined) return null;
    if (!Buffer.isBuffer(row['part'])) {
      if (bucket === null) throw lacksBucket(place, row['object']);
      // oxlint-disable-next-line no-await-in-loop -- at most once
      const bytes = await bucket.get(String(row['object']));
      if (bytes === null) await noteDamage(db, ref);
      return bytes;
    }
    size = Number(row['size']);
    parts.push(row['part']);
  }
  return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts);
}

export function lacksBucket(place: string, object: unknown): StoreUnavailable {
  return new StoreUnavailable(
    `Artifacts of the store at ${place} are in a bucket, in "s3://${String(object)}", and PLANWAVE_ARTIFACTS_URL is not set here. ` +
      'Try: set it to the value that the workers use. The run waits and continues by itself.',
    { path: place, code: null },
  );
}
