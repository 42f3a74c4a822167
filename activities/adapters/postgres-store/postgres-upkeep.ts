import type { Ref } from '../../../contracts/ref.ts';
import { checkRecords, restore } from '../../artifacts/store-upkeep.ts';
import { ArtifactCorrupt, type ArtifactStore, type RunIndex } from '../../ports/artifact-store.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { CheckedHome, HomeFault } from '../../../contracts/store.ts';
import type { CheckOptions } from '../../ports/stores.ts';
import { commandPrefix, countOf } from '../../../core/text/format.ts';
import { openEffect } from '../file-store/file-ledgers.ts';
import { findDamagedShared } from '../file-store/check-home.ts';
import type { Database } from './database.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { orphanAfterMs, type ArtifactPlace } from './postgres-artifact-store.ts';
import {
  createEntries,
  createPostgresSharedValues,
  listRows,
  readIndexEntry,
  readReply,
} from './postgres-ledgers.ts';

/** Addresses that are read or removed at once. */
export const pageRows = 1_000;

export interface Parts extends ArtifactPlace {
  readonly store: ArtifactStore;
  readonly index: RunIndex;
}

/** Lists the addresses of all artifacts that were stored before a time, Unix epoch milliseconds. */
export async function* listRefs(db: Database, before = Infinity): AsyncGenerator<Ref> {
  const isOlder = before === Infinity ? 'true' : 'stored_at < $2';
  const time = before === Infinity ? [] : [new Date(before)];
  for (let after = ''; ;) {
    // oxlint-disable-next-line no-await-in-loop
    const rows = await db.query(
      'read',
      `SELECT ref FROM planwave_artifacts WHERE ref > $1 AND ${isOlder} ORDER BY ref LIMIT ${pageRows}`,
      [after, ...time],
    );
    const refs = rows.map(({ ref }) => String(ref));
    yield* refs;
    after = refs.at(-1) ?? '';
    if (refs.length < pageRows) return;
  }
}

/**
 * Reads everything in a database and looks for damage. Only orphans are removed: a database has no torn records.
 *
 * @param parts `artifacts`: the store without decryption, in which addresses are checked.
 * @throws {StoreUnavailable} when the database can't be read.
 */
export async function checkDatabase(
  parts: Parts & CheckOptions & { readonly artifacts: ArtifactStore },
): Promise<CheckedHome> {
  const { db, store, artifacts, index, removeOrphans = false } = parts;
  const whole = new Set<Ref>();
  const faults: HomeFault[] = [];
  const repaired: HomeFault[] = [];
  let count = 0;
  for await (const ref of listRefs(db)) {
    count += 1;
    const what = await findDamage(artifacts, ref);
    if (what === null) whole.add(ref);
    else faults.push(faultAt(`the artifact ${ref}`, what));
  }
  for await (const row of listRows(db, 'true', [])) {
    count += 1;
    if (readReply(row) !== null) continue;
    const lost = 'it is damaged, and a repeat of its activity would pay again';
    faults.push(faultAt(`the entry ${String(row['seq'])} of planwave_replies`, lost));
  }
  for await (const { key, text } of createEntries(db, 'effect').list()) {
    count += 1;
    if (openEffect(text, key) !== damagedEntry) continue;
    const what = 'the entry of a side effect is damaged; whether it took place is unknown';
    faults.push(faultAt(`the entry ${key} of planwave_entries`, what));
  }
  const shared = await createPostgresSharedValues(db).list();
  faults.push(...findDamagedShared(shared));
  count += shared.length;
  let runs = 0;
  for await (const { key, text } of createEntries(db, 'run').list()) {
    runs += 1;
    if (readIndexEntry(text) !== null) continue;
    const what = 'it is damaged, so the record of its run is not found';
    faults.push(faultAt(`the entry ${key} of planwave_entries`, what));
  }
  const records = await checkRecords(store, index, whole);
  faults.push(...records.faults);
  if (parts.bucket !== null) {
    const orphans = await checkObjects(parts, parts.bucket, removeOrphans);
    (removeOrphans ? repaired : faults).push(...orphans);
  }
  return { ...records, runs, records: count, bytes: await measureBytes(db), faults, repaired };
}

/** Looks for objects that nothing names, and removes them on request. @throws {StoreUnavailable} */
async function checkObjects(
  parts: Parts,
  bucket: Bucket,
  remove: boolean,
): Promise<readonly HomeFault[]> {
  const orphans = await findOrphans(parts, bucket);
  const [first] = orphans;
  if (first === undefined) return [];
  if (remove) for (const { object } of orphans) await bucket.remove(object);
  const bytes = orphans.reduce((sum, one) => sum + one.bytes, 0);
  const size = `${countOf(orphans.length, 'object')} of ${(bytes / 1e6).toFixed(1)} MB`;
  return [
    {
      where: bucket.place,
      what: `${size} that nothing in the database names, such as ${first.object}; only space is lost`,
      cure: `${commandPrefix} fsck --remove-orphans, unless this database is a copy and the original in use`,
    },
  ];
}

/**
 * Finds the objects of workers that were killed between an upload and its row. One that is younger than everything in the
 * database is left out: where an old dump was restored, the original may need it.
 */
async function findOrphans({ db, owner }: Parts, bucket: Bucket): Promise<readonly StoredObject[]> {
  const [newest] = await db.query('read', 'SELECT max(stored_at) AS at FROM planwave_artifacts');
  const at = newest?.['at'];
  const before = Math.min(Date.now() - orphanAfterMs, at instanceof Date ? at.getTime() : 0);
  const orphans: StoredObject[] = [];
  let page: StoredObject[] = [];
  const sift = async (): Promise<void> => {
    const sql = 'SELECT object FROM planwave_artifacts WHERE ref = ANY($1::text[])';
    const rows = await db.query('read', sql, [page.map(({ ref }) => ref)]);
    const named = new Set(rows.map(({ object }) => object));
    orphans.push(...page.filter(({ object }) => !named.has(object)));
    page = [];
  };
  for await (const object of bucket.list(await owner())) {
    // A time that can't be read counts as young.
    if (!(object.storedAt < before)) continue;
    page.push(object);
    if (page.length === pageRows) await sift();
  }
  await sift();
  return orphans;
}

/** Returns what is wrong with an artifact; null when nothing is. */
async function findDamage(store: ArtifactStore, ref: Ref): Promise<string | null> {
  try {
    await store.get(ref);
    return null;
  } catch (error) {
    if (!(error instanceof ArtifactCorrupt)) throw error;
    if (error.type !== 'ArtifactMissing') return 'it is damaged';
    // Another process may have removed it in the meantime.
    return (await store.has(ref)) ? 'the bucket has lost its object' : null;
  }
}

async function measureBytes(db: Database): Promise<number> {
  const [row] = await db.query(
    'read',
    `SELECT sum(pg_total_relation_size(oid))::float8 AS tables,
      (SELECT sum(size)::float8 FROM planwave_artifacts WHERE object IS NOT NULL) AS objects
    FROM pg_class
    WHERE relname IN ('planwave_artifacts', 'planwave_replies', 'planwave_entries') AND pg_table_is_visible(oid)`,
  );
  return Number(row?.['tables'] ?? 0) + Number(row?.['objects'] ?? 0);
}

function faultAt(where: string, what: string): HomeFault {
  return { where, what, cure: restore };
}
