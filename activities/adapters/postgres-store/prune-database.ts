import type { Ref } from '../../../contracts/ref.ts';
import type { Pruned } from '../../../contracts/store.ts';
import { planPrune } from '../../artifacts/store-upkeep.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { isOutdated } from '../../ports/shared-values.ts';
import type { PruneOptions } from '../../ports/stores.ts';
import { readShared } from '../file-store/file-shared-values.ts';
import { removeRunFiles } from '../file-store/prune-home.ts';
import type { Database, Row } from './database.ts';
import { lacksBucket } from './postgres-artifact-store.ts';
import { createEntries, hashName, readIndexEntry } from './postgres-ledgers.ts';
import { listRefs, pageRows, type Parts } from './postgres-upkeep.ts';

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
  const listStored = async () => {
    for await (const ref of listRefs(db)) stored.add(ref);
    return (ref: Ref): boolean => stored.has(ref);
  };
  const plan = await planPrune({ store, index, listStored, endedBefore });
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
  const swept = { records: 0, bytes: 0 };
  const count = ({ records, bytes }: Swept): void => {
    swept.records += records;
    swept.bytes += bytes;
  };
  let page: Ref[] = [];
  const sweepPage = async (): Promise<void> => {
    // One that a worker stores again in the meantime is young, and stays.
    const isOld = 'planwave_artifacts WHERE ref = ANY($2::text[]) AND stored_at < $1';
    const rows = await sweep(db, dryRun, isOld, [new Date(before), page]);
    count(sumUp(rows));
    page = [];
    // An object whose removal fails is left over until `checkObjects` finds it.
    if (!dryRun) for (const object of rows.flatMap(objectOf)) await bucket?.remove(object);
  };
  for await (const ref of listRefs(db, before)) {
    if (marked.has(ref)) continue;
    page.push(ref);
    if (page.length === pageRows) await sweepPage();
  }
  if (page.length > 0) await sweepPage();
  const replies = { rows: 'planwave_replies WHERE stored_at < $1', key: 'seq', first: '0' };
  count(await sweepPages(db, dryRun, before, replies));
  const effects = "planwave_entries WHERE kind = 'effect' AND stored_at < $1";
  count(await sweepPages(db, dryRun, before, { rows: effects, key: 'key', first: '' }));
  const leadsNowhere = (text: string): boolean => {
    const entry = readIndexEntry(text);
    return entry !== null && !stored.has(entry.ref);
  };
  count(await sweepEntries(db, { kind: 'shared', before, dryRun }, isUselessShared));
  count(await sweepEntries(db, { kind: 'research', before, dryRun }, leadsNowhere));
  return {
    runs: removed.map(({ record }) => record.run_id).toSorted(),
    ...swept,
    kept_by: keptBy,
  };
}

function isUselessShared(text: string): boolean {
  const shared = readShared(text);
  return shared !== null && isOutdated(shared.name, shared.value);
}

type Swept = Pick<Pruned, 'records' | 'bytes'>;

/** Removes entries that are useless and were last written before a time. */
async function sweepEntries(
  db: Database,
  { kind, before, dryRun }: { kind: 'shared' | 'research'; before: number; dryRun: boolean },
  isUseless: (text: string) => boolean,
): Promise<Swept> {
  const old = 'planwave_entries WHERE kind = $1 AND stored_at < $2';
  const values = [kind, new Date(before)];
  const rows = await db.query('read', `SELECT key, version, body FROM ${old}`, values);
  const useless: Row[] = [];
  for (const { key, version, body } of rows) {
    if (!Buffer.isBuffer(body) || !isUseless(body.toString('utf8'))) continue;
    // Only what was read: a worker may write the next version.
    const read = `${old} AND key = $3 AND version = $4`;
    // oxlint-disable-next-line no-await-in-loop
    useless.push(...(await sweep(db, dryRun, read, [...values, key, version])));
  }
  return sumUp(useless);
}

/**
 * Removes old rows, page by page: a statement for all of them would take longer than one may.
 *
 * @param rows Table and condition; `$1` is the time. `first`: a key before all others.
 */
async function sweepPages(
  db: Database,
  dryRun: boolean,
  before: number,
  { rows, key, first }: Readonly<Record<'rows' | 'key' | 'first', string>>,
): Promise<Swept> {
  const page = `FROM ${rows} AND ${key} > $2 ORDER BY ${key} LIMIT ${pageRows}`;
  const found = `${key} AS key, octet_length(body) AS size`;
  // The condition again: a row that is written meanwhile is young, and stays.
  const removed = `DELETE FROM ${rows} AND ${key} IN (SELECT ${key} ${page}) RETURNING ${found}`;
  const swept = dryRun ? `SELECT ${found} ${page}` : removed;
  const sums = `WITH swept AS (${swept})
    SELECT count(*) AS records, coalesce(sum(size), 0) AS bytes, max(key) AS last FROM swept`;
  const all = { records: 0, bytes: 0 };
  for (let after: unknown = first; ;) {
    // oxlint-disable-next-line no-await-in-loop
    const [row] = await db.query(dryRun ? 'read' : 'write', sums, [new Date(before), after]);
    after = row?.['last'] ?? null;
    if (row === undefined || after === null) return all;
    all.records += Number(row['records']);
    all.bytes += Number(row['bytes']);
  }
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

function sumUp(rows: readonly Row[]): Swept {
  return { records: rows.length, bytes: rows.reduce((sum, { size }) => sum + Number(size), 0) };
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
