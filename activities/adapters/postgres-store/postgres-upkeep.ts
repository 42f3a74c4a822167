import type { Ref } from '../../../contracts/ref.ts';
import { checkRecords, restore } from '../../artifacts/check-records.ts';
import { planPrune } from '../../artifacts/plan-prune.ts';
import { ArtifactCorrupt, StoreUnavailable } from '../../ports/artifact-store.ts';
import type { ArtifactStore, RunIndex } from '../../ports/artifact-store.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { CheckedHome, HomeFault, Pruned } from '../../../contracts/store.ts';
import type { PruneOptions } from '../../ports/stores.ts';
import { openEffect } from '../file-store/file-effect-ledger.ts';
import { removeRunFiles } from '../file-store/prune-home.ts';
import type { Database, Row } from './database.ts';
import {
  createEntries,
  hashName,
  listRows,
  readIndexEntry,
  readReply,
} from './postgres-ledgers.ts';

/** Addresses that are read or removed at once. */
const pageRows = 1_000;

interface Parts {
  readonly db: Database;
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
 * Reads everything in a database and looks for damage. Nothing is repaired: a database has no torn records.
 *
 * @throws {StoreUnavailable} when the database can't be read.
 */
export async function checkDatabase({ db, store, index }: Parts): Promise<CheckedHome> {
  const whole = new Set<Ref>();
  const faults: HomeFault[] = [];
  let records = 0;
  for await (const ref of listRefs(db)) {
    records += 1;
    const isWhole = await store.get(ref).then(
      () => true,
      (error: unknown) =>
        error instanceof ArtifactCorrupt ? error.type === 'ArtifactMissing' : Promise.reject(error),
    );
    if (isWhole) whole.add(ref);
    else faults.push(faultAt(`the artifact ${ref}`, 'it is damaged'));
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
  let runs = 0;
  for await (const { key, text } of createEntries(db, 'run').list()) {
    runs += 1;
    if (readIndexEntry(text) !== null) continue;
    const what = 'it is damaged, so the record of its run is not found';
    faults.push(faultAt(`the entry ${key} of planwave_entries`, what));
  }
  const [size] = await db.query(
    'read',
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
    WHERE relname IN ('planwave_artifacts', 'planwave_replies', 'planwave_entries') AND pg_table_is_visible(oid)`,
  );
  return {
    runs,
    records,
    bytes: Number(size?.['bytes'] ?? 0),
    faults: [...faults, ...(await checkRecords(store, index, whole))],
    repaired: [],
  };
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
  const { db, store, index, home, endedBefore, dryRun } = options;
  await refuseDamaged(db);
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
    sizes.push(...(await sweep(db, dryRun, isOld, 'bytes', [new Date(before), page])));
    page = [];
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
    sizes.push(...(await sweep(db, dryRun, isOld, 'body', old)));
  }
  return {
    runs: removed.map(({ record }) => record.run_id).toSorted(),
    records: sizes.length,
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    kept_by: keptBy,
  };
}

/** @throws {StoreUnavailable} when nothing says what the run of an entry needs. */
async function refuseDamaged(db: Database): Promise<void> {
  for await (const { key, text } of createEntries(db, 'run').list()) {
    if (readIndexEntry(text) !== null) continue;
    throw new StoreUnavailable(
      `The entry ${key} of planwave_entries is damaged, so nothing says what its run needs. Try: restore the database, or delete that row if the run is of no use any more.`,
      { path: db.place, code: null },
    );
  }
}

/** Removes rows, or only counts them. @returns the size of each. */
async function sweep(
  db: Database,
  dryRun: boolean,
  rows: string,
  column: 'bytes' | 'body',
  values: readonly unknown[],
): Promise<readonly number[]> {
  const size = `octet_length(${column}) AS size`;
  const found: readonly Row[] = dryRun
    ? await db.query('read', `SELECT ${size} FROM ${rows}`, values)
    : await db.query('write', `DELETE FROM ${rows} RETURNING ${size}`, values);
  return found.map((row) => Number(row['size']));
}
