import { Client } from 'pg';
import type { BucketSettings } from '../../activities/adapters/postgres-store/bucket.ts';
import { hashName } from '../../activities/adapters/postgres-store/postgres-ledgers.ts';
import { hashKey } from '../../activities/adapters/file-store/file-ledgers.ts';
import { createTemporaryHome } from '../unit/adapters/temporary-home.ts';
import type { StoreUnderTest } from './store-contract.ts';

export async function executeSql(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Sets one byte of a column to another value. */
export const damage = (column: string, byte = '0'): string =>
  `${column} = set_byte(${column}, ${byte}, 255 - get_byte(${column}, ${byte}))`;

/**
 * Creates an empty store in a database that has tables.
 *
 * @param bucket With the way to damage one of its objects. If undefined, artifacts are in the database.
 */
export async function createDatabaseUnderTest(
  url: string,
  bucket?: {
    readonly settings: BucketSettings;
    readonly damage: (object: string) => Promise<void>;
  },
): Promise<StoreUnderTest> {
  const own = await createTemporaryHome();
  const run = (sql: string, values: readonly unknown[]) => executeSql(url, sql, values);
  const damageEntry = async (kind: string, key: string): Promise<void> => {
    const sql = `UPDATE planwave_entries SET ${damage('body')} WHERE kind = $1 AND key = $2`;
    await run(sql, [kind, key]);
  };
  return {
    home: own.home,
    storeUrl: url,
    artifacts: bucket?.settings,
    remove: async () => {
      await run('TRUNCATE planwave_artifacts, planwave_replies, planwave_entries', []);
      await own.remove();
    },
    damageArtifact: async (ref) => {
      if (bucket === undefined) {
        await run(`UPDATE planwave_artifacts SET ${damage('bytes')} WHERE ref = $1`, [ref]);
        return;
      }
      const [row] = await run('SELECT object FROM planwave_artifacts WHERE ref = $1', [ref]);
      await bucket.damage(String(row?.['object']));
    },
    damageReply: async (key, which) => {
      const newest = '(SELECT max(seq) FROM planwave_replies WHERE key = $1)';
      const rows = which === 'all' ? 'true' : `seq = ${newest}`;
      const sql = `UPDATE planwave_replies SET ${damage('body', 'length(body) - 3')}
          WHERE key = $1 AND ${rows}`;
      await run(sql, [hashKey(key)]);
    },
    damageRun: (name) => damageEntry('run', hashName(name)),
    damageEffect: (key) => damageEntry('effect', key),
  };
}
