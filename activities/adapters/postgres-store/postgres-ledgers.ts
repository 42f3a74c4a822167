import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Ref } from '../../../contracts/ref.ts';
import type { EffectLedger } from '../../ports/effect-ledger.ts';
import type { RunIndex } from '../../ports/artifact-store.ts';
import type { LedgerEntry, ReplyLedger } from '../../ports/reply-ledger.ts';
import { sortListed, type ListedShared, type SharedValues } from '../../ports/shared-values.ts';
import { hashBytes } from '../../text/bytes.ts';
import {
  checkEffectKey,
  openEffect,
  sealEffect,
  hashKey,
  isBelow,
  keepNewest,
  openReply,
  sealReply,
} from '../file-store/file-ledgers.ts';
import { openShared, readShared, sealShared } from '../file-store/file-shared-values.ts';
import { openSealed, sealJson } from '../file-store/versioned-file.ts';
import type { Database, Row } from './database.ts';
import type { PostgresArtifactStore } from './postgres-artifact-store.ts';

/** Rows that are read at once. */
const pageRows = 200;

type Kind = 'run' | 'research' | 'effect' | 'shared';

interface StoredEntry {
  /** Null when there is none. */
  readonly text: string | null;
  /** 0 when there is none. */
  readonly version: number;
}

/**
 * The entries of one kind, which only a reader of the newest version can replace.
 *
 * SQE1. Of all writers after the same version one succeeds, and no writer replaces a version that it has not read.
 * SQE2. A writer whose connection is cut finds out by its own mark whether it was the one. If another one has built on its
 *       version by then, it is told that it was not.
 */
export function createEntries(db: Database, kind: Kind) {
  return {
    async read(key: string): Promise<StoredEntry> {
      const [row] = await db.query(
        'read',
        'SELECT version, body FROM planwave_entries WHERE kind = $1 AND key = $2',
        [kind, key],
      );
      if (row === undefined) return { text: null, version: 0 };
      return { text: textOf(row), version: Number(row['version']) };
    },
    async replace(key: string, text: string, after: number): Promise<boolean> {
      const values = [kind, key, after + 1, randomUUID(), Buffer.from(text)];
      const written = await db.query('write', after === 0 ? insertEntry : updateEntry, values);
      if (written.length > 0) return true;
      // Another writer, or this one on a connection that was cut before the answer came.
      const own = await db.query('read', ownEntry, values.slice(0, 4));
      return own.length > 0;
    },
    /** Lists all in the order of their keys. */
    async *list(): AsyncGenerator<StoredEntry & { readonly key: string }> {
      for (let after = ''; ;) {
        // oxlint-disable-next-line no-await-in-loop
        const rows = await db.query(
          'read',
          `SELECT key, version, body FROM planwave_entries WHERE kind = $1 AND key > $2
          ORDER BY key LIMIT ${pageRows}`,
          [kind, after],
        );
        for (const row of rows) {
          after = String(row['key']);
          yield { key: after, text: textOf(row), version: Number(row['version']) };
        }
        if (rows.length < pageRows) return;
      }
    },
  };
}

const insertEntry = `INSERT INTO planwave_entries (kind, key, version, writer, body) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING 1`;
const updateEntry = `UPDATE planwave_entries SET version = $3, writer = $4, body = $5, stored_at = now()
  WHERE kind = $1 AND key = $2 AND version = $3 - 1 RETURNING 1`;
const ownEntry =
  'SELECT 1 FROM planwave_entries WHERE kind = $1 AND key = $2 AND version = $3 AND writer = $4';

function textOf({ body }: Row): string | null {
  return Buffer.isBuffer(body) ? body.toString('utf8') : null;
}

const IndexEntry = z.strictObject({ name: z.string(), ref: Ref });

/** Creates an index of named references in a database: of runs, or of research. A damaged entry reads as one without a reference. */
export function createPostgresRunIndex(db: Database, kind: 'run' | 'research'): RunIndex {
  const entries = createEntries(db, kind);
  return {
    write: (name, ref, after) =>
      entries.replace(hashName(name), sealJson({ name, ref: Ref.parse(ref) }), after),
    read: async (name) => {
      const { text, version } = await entries.read(hashName(name));
      const entry = readIndexEntry(text);
      return { ref: entry?.name === name ? entry.ref : null, version };
    },
    list: async () => {
      const names: string[] = [];
      for await (const { key, text } of entries.list()) {
        const entry = readIndexEntry(text);
        if (entry !== null && hashName(entry.name) === key) names.push(entry.name);
      }
      // Sorted by code unit, which is the same on every machine.
      return names.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    },
  };
}

/** Hashes the code units of a name, so that lone surrogates stay apart. */
export function hashName(name: string): string {
  return hashBytes(Buffer.from(name, 'utf16le'));
}

export function readIndexEntry(text: string | null): z.infer<typeof IndexEntry> | null {
  return text === null ? null : (IndexEntry.safeParse(openSealed(text)).data ?? null);
}

/** Creates a ledger of effects in a database. An entry that is damaged, or of an unknown version, does not count as missing. */
export function createPostgresEffectLedger(db: Database): EffectLedger {
  const entries = createEntries(db, 'effect');
  return {
    find: async (key) => {
      const { text, version } = await entries.read(checkEffectKey(key));
      return { state: version === 0 ? null : openEffect(text, key), version };
    },
    put: async (key, state, after) =>
      entries.replace(checkEffectKey(key), sealEffect(key, state), after),
  };
}

/** Names an entry for people. */
export function placeOf(key: string): string {
  return `the entry ${key} of planwave_entries`;
}

export function createPostgresSharedValues(db: Database): SharedValues {
  const entries = createEntries(db, 'shared');
  return {
    read: async (name) => {
      const { text, version } = await entries.read(hashName(name));
      return { value: openShared(text, version, placeOf(hashName(name))), version };
    },
    replace: (name, value, after) =>
      entries.replace(hashName(name), sealShared(name, value), after),
    list: async () => {
      const listed: ListedShared[] = [];
      for await (const { key, text } of entries.list()) {
        listed.push({ name: readShared(text)?.name ?? null, place: placeOf(key) });
      }
      return sortListed(listed);
    },
  };
}

/**
 * Creates a ledger of replies in a database.
 *
 * SQR1. An entry and the artifacts of its batch are one statement: both are stored, or neither. Objects of a bucket are before it.
 * SQR2. An entry is stored once, even when the connection is cut before the answer comes.
 * SQR3. Of one attempt the newest entry counts whose seal and key fit.
 */
export function createPostgresReplyLedger(db: Database, store: PostgresArtifactStore): ReplyLedger {
  return {
    find: async (key) => {
      const rows = await db.query(
        'read',
        'SELECT attempt, body FROM planwave_replies WHERE key = $1 ORDER BY attempt, seq DESC',
        [hashKey(key)],
      );
      const newest = new Map<unknown, unknown>();
      for (const row of rows) {
        const entry = readReply(row);
        const fits = entry !== null && hashKey(entry.key) === hashKey(key);
        if (fits && !newest.has(row['attempt'])) newest.set(row['attempt'], entry.value);
      }
      return [...newest.values()];
    },
    list: async (place, since) => {
      const newest = new Map<string, LedgerEntry>();
      const from = new Date(since);
      for await (const row of listRows(db, 'root = $2 AND stored_at >= $3', [
        rootOf(place),
        from,
      ])) {
        const entry = readReply(row);
        if (entry !== null && isBelow(entry.key.workflow_id, place)) {
          keepNewest(newest, entry);
        }
      }
      return [...newest.values()];
    },
    put: async (key, attempt, value, batch, time) => {
      // In one order, so that two writers of the same artifacts don't wait for each other.
      const artifacts = [...(batch?.staged ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const { statement, values, settle } = await store.prepare(artifacts, true);
      const entry = [randomUUID(), hashKey(key), attempt, rootOf(key.workflow_id)];
      const storedAt = time === undefined ? null : new Date(time);
      const row = [...entry, sealReply(key, value), storedAt];
      const insertion = statement(row.length + 1);
      const sql =
        insertion === null
          ? insertReply
          : `WITH stored AS (${insertion}) ${insertReply} RETURNING ARRAY(SELECT object FROM stored) AS objects`;
      const [written] = await db.query('write', sql, [...row, ...values]);
      const named: unknown = written?.['objects'];
      await settle(Array.isArray(named) ? named : []);
      for (const [ref, bytes] of artifacts) store.cache.set(ref, bytes);
    },
  };
}

const insertReply = `INSERT INTO planwave_replies (id, key, attempt, root, body, stored_at)
  VALUES ($1, $2, $3, $4, $5, COALESCE($6::timestamptz, now()))
  ON CONFLICT (id) DO NOTHING`;

/** Returns the hash of the part of a workflow id that all workflows of a run share. */
function rootOf(workflowId: string): string {
  const [root = ''] = workflowId.split('/', 1);
  return hashBytes(Buffer.from(root, 'utf16le'));
}

/** @returns null when the row is damaged. */
export function readReply({ attempt, body, stored_at }: Row): LedgerEntry | null {
  const opened = Buffer.isBuffer(body) ? openReply(body) : null;
  const time = stored_at instanceof Date ? stored_at.getTime() : 0;
  return opened === null
    ? null
    : { ...opened, attempt: Number(attempt), begun_at: time, written_at: time };
}

/**
 * Reads rows of the ledger, oldest first.
 *
 * @param where A condition; `$1` is taken.
 */
export async function* listRows(
  db: Database,
  where: string,
  values: readonly unknown[],
): AsyncGenerator<Row> {
  for (let after = '0'; ;) {
    // oxlint-disable-next-line no-await-in-loop
    const rows = await db.query(
      'read',
      `SELECT seq, key, attempt, body, stored_at FROM planwave_replies WHERE seq > $1 AND ${where}
      ORDER BY seq LIMIT ${pageRows}`,
      [after, ...values],
    );
    yield* rows;
    if (rows.length < pageRows) return;
    after = String(rows.at(-1)?.['seq']);
  }
}
