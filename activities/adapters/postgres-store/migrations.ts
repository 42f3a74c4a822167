/**
 * Changes of the tables, by number from 1. One that was released is never changed: another one follows it.
 *
 * Keys are hexadecimal digits, and everything else that planwave writes is in bytes: names and texts may hold what a text of
 * PostgreSQL can't.
 */
export const migrations: readonly (readonly string[])[] = [
  [
    'CREATE TABLE planwave_store_schema (version integer NOT NULL)',
    'INSERT INTO planwave_store_schema VALUES (0)',
    `CREATE TABLE planwave_artifacts (
      ref text COLLATE "C" PRIMARY KEY,
      bytes bytea NOT NULL,
      stored_at timestamptz NOT NULL DEFAULT now()
    )`,
    // Not compressed, so that a part of a large one can be read alone.
    'ALTER TABLE planwave_artifacts ALTER COLUMN bytes SET STORAGE EXTERNAL',
    // Appended to: of an attempt the newest row counts whose seal fits.
    `CREATE TABLE planwave_replies (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL UNIQUE,
      key text COLLATE "C" NOT NULL,
      attempt integer NOT NULL,
      root text COLLATE "C" NOT NULL,
      body bytea NOT NULL,
      stored_at timestamptz NOT NULL DEFAULT now()
    )`,
    'CREATE INDEX planwave_replies_by_key ON planwave_replies (key)',
    'CREATE INDEX planwave_replies_by_root ON planwave_replies (root, seq)',
    // Runs, research and effects: each is replaced by a writer that has read its version.
    `CREATE TABLE planwave_entries (
      kind text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      writer uuid NOT NULL,
      body bytea NOT NULL,
      stored_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, key)
    )`,
  ],
  // The id of the store, which its runs record, and those of stores that were copied into it. A restored dump has the same.
  [
    'CREATE TABLE planwave_store_ids (id text COLLATE "C" PRIMARY KEY, is_own boolean NOT NULL)',
    `INSERT INTO planwave_store_ids
      VALUES (substr(md5(random()::text || clock_timestamp()::text), 1, 12), true)`,
  ],
  // Bytes may be in a bucket instead, in an object that belongs to this row alone.
  [
    'ALTER TABLE planwave_artifacts ALTER COLUMN bytes DROP NOT NULL',
    `ALTER TABLE planwave_artifacts ADD COLUMN object text COLLATE "C", ADD COLUMN size bigint,
      ADD COLUMN is_damaged boolean NOT NULL DEFAULT false`,
  ],
];
