import type { Ref } from '../../../contracts/ref.ts';
import { checkRecords, restore, planPrune } from '../../artifacts/store-upkeep.ts';
import {
  ArtifactCorrupt,
  StoreUnavailable,
  type ArtifactStore,
  type RunIndex,
} from '../../ports/artifact-store.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { CheckedHome, HomeFault, Pruned } from '../../../contracts/store.ts';
import type { CheckOptions, PruneOptions } from '../../ports/stores.ts';
import { commandPrefix, countOf } from '../../../core/text/format.ts';
import { openEffect } from '../file-store/file-ledgers.ts';
import { removeRunFiles } from '../file-store/prune-home.ts';
import { findDamagedShared } from '../file-store/check-home.ts';
import { readShared } from '../file-store/file-shared-values.ts';
import { isOutdated } from '../../ports/shared-values.ts';
import type { Database, Row } from './database.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { lacksBucket, orphanAfterMs, type ArtifactPlace } from './postgres-artifact-store.ts';
import {
  createEntries,
  createPostgresSharedValues,
  hashName,
  listRows,
  readIndexEntry,
  readReply,
} from './postgres-ledgers.ts';

/** Addresses that are read or removed at once. */
const pageRows = 1_000;

interface Parts extends ArtifactPlace {
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
 * @throws {StoreUnavailable} when the database can't be read.
 */
export async function checkDatabase(parts: Parts & CheckOptions): Promise<CheckedHome> {
  const { db, store, index, removeOrphans = false } = parts;
  const whole = new Set<Ref>();
  const faults: HomeFault[] = [];
  const repaired: HomeFault[] = [];
  let records = 0;
  for await (const ref of listRefs(db)) {
    records += 1;
    const what = await findDamage(store, ref);
    if (what === null) whole.add(ref);
    else faults.push(faultAt(`the artifact ${ref}`, what));
  }
  for await (const row of listRows(db, 'true', [])) {
    records += 1;
    if (readReply(row) !== null) continue;
    const lost = 'it is damaged, and a repeat of its activity would pay again';
    faults.push(faultAt(`the entry ${String(row['seq'])} of planwave_replies`, lost));
  }
  for await (const { key, text } of createEntries(db, 'effect').list()) {
    records += 1;
    if (openEffect(text, key) !== damagedEntry) continue;
    const what = 'the entry of a side effect is damaged; whether it took place is unknown';
    faults.push(faultAt(`the entry ${key} of planwave_entries`, what));
  }
  const shared = await createPostgresSharedValues(db).list();
  faults.push(...findDamagedShared(shared));
  records += shared.length;
  let runs = 0;
  for await (const { key, text } of createEntries(db, 'run').list()) {
    runs += 1;
    if (readIndexEntry(text) !== null) continue;
    const what = 'it is damaged, so the record of its run is not found';
    faults.push(faultAt(`the entry ${key} of planwave_entries`, what));
  }
  faults.push(...(await checkRecords(store, index, whole)));
  if (parts.bucket !== null) {
    const orphans = await checkObjects(parts, parts.bucket, removeOrphans);
    (removeOrphans ? repaired : faults).push(...orphans);
  }
  return { runs, records, bytes: await measureBytes(db), faults, repaired };
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

/**
 * Removes runs that ended long ago, and what no other run needs, like `pruneHome`. Only the files for people in this home are
 * removed.
 *
 * @throws {ArtifactCorrupt} when the record of a run can't be read. Nothing was then removed.
 * @throws {StoreUnavailable} when the database can't be read or written.
 */
export async function pruneDatabase(
  options: Parts & PruneOptions & { readonly home: string },
): Promise<Pruned> {
  const { db, bucket, place, store, index, home, endedBefore, dryRun } = options;
  await refuseDamaged(db);
  const [inBucket] = await db.query('read', anyObject);
  if (inBucket !== undefined && bucket === null) throw lacksBucket(place, inBucket['object']);
  const stored = new Set<Ref>();
  for await (const ref of listRefs(db)) stored.add(ref);
  const plan = await planPrune({ store, index, isStored: (ref) => stored.has(ref), endedBefore });
  const { removed, marked, before, keptBy } = plan;
  if (!dryRun) {
    for (const { record, version } of removed) {
      await removeRunFiles(home, record.run_id);
      // Only what was read: a run may begin under the same id.
      await db.query(
        'write',
        "DELETE FROM planwave_entries WHERE kind = 'run' AND key = $1 AND version = $2",
        [hashName(record.run_id), version],
      );
    }
  }
  const sizes: number[] = [];
  let page: Ref[] = [];
  const sweepPage = async (): Promise<void> => {
    // One that a worker stores again in the meantime is young, and stays.
    const isOld = 'planwave_artifacts WHERE ref = ANY($2::text[]) AND stored_at < $1';
    const swept = await sweep(db, dryRun, isOld, [new Date(before), page]);
    sizes.push(...swept.map(sizeOf));
    page = [];
    // An object whose removal fails is left over until `checkObjects` finds it.
    if (!dryRun) for (const object of swept.flatMap(objectOf)) await bucket?.remove(object);
  };
  for await (const ref of listRefs(db, before)) {
    if (marked.has(ref)) continue;
    page.push(ref);
    if (page.length === pageRows) await sweepPage();
  }
  if (page.length > 0) await sweepPage();
  const old = [new Date(before)];
  for (const isOld of [
    'planwave_replies WHERE stored_at < $1',
    "planwave_entries WHERE kind = 'effect' AND stored_at < $1",
  ]) {
    sizes.push(...(await sweep(db, dryRun, isOld, old)).map(sizeOf));
  }
  sizes.push(...(await sweepShared(db, before, dryRun)));
  return {
    runs: removed.map(({ record }) => record.run_id).toSorted(),
    records: sizes.length,
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    kept_by: keptBy,
  };
}

/** Removes shared values that nobody needs and that were last written before a time. @returns the size of each. */
async function sweepShared(
  db: Database,
  before: number,
  dryRun: boolean,
): Promise<readonly number[]> {
  const old = "planwave_entries WHERE kind = 'shared' AND stored_at < $1";
  const values = [new Date(before)];
  const rows = await db.query('read', `SELECT key, version, body FROM ${old}`, values);
  const sizes: number[] = [];
  for (const { key, version, body } of rows) {
    const shared = Buffer.isBuffer(body) ? readShared(body.toString('utf8')) : null;
    if (shared === null || !isOutdated(shared.name, shared.value)) continue;
    // Only what was read: a worker may write the next version.
    const read = `${old} AND key = $2 AND version = $3`;
    // oxlint-disable-next-line no-await-in-loop
    const swept = await sweep(db, dryRun, read, [...values, key, version]);
    sizes.push(...swept.map(sizeOf));
  }
  return sizes;
}

/** @throws {StoreUnavailable} when nothing says what the run of an entry needs. */
async function refuseDamaged(db: Database): Promise<void> {
  for await (const { key, text } of createEntries(db, 'run').list()) {
    if (readIndexEntry(text) !== null) continue;
    throw new StoreUnavailable(
      `The entry ${key} of planwave_entries is damaged, so planwave can't tell what its run needs. Try: restore the database, or delete that row if you no longer need the run.`,
      { path: db.place, code: null },
    );
  }
}

const anyObject = 'SELECT object FROM planwave_artifacts WHERE object IS NOT NULL LIMIT 1';

function sizeOf({ size }: Row): number {
  return Number(size);
}

function objectOf({ object }: Row): readonly string[] {
  return typeof object === 'string' ? [object] : [];
}

/** Removes rows, or only lists them. @returns the size of each, and the name of its object. */
async function sweep(
  db: Database,
  dryRun: boolean,
  rows: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const columns = rows.startsWith('planwave_artifacts')
    ? 'coalesce(size, octet_length(bytes)) AS size, object'
    : 'octet_length(body) AS size';
  return dryRun
    ? db.query('read', `SELECT ${columns} FROM ${rows}`, values)
    : db.query('write', `DELETE FROM ${rows} RETURNING ${columns}`, values);
}
