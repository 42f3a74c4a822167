import type { StoreIdentity } from '../../../contracts/store.ts';
import {
  encryptEffects,
  encryptLedger,
  encryptNames,
  encryptStore,
} from '../../encryption/encrypt-ports.ts';
import type { Cipher } from '../../ports/cipher.ts';
import type { StoreContents, Stores } from '../../ports/stores.ts';
import type { ThreadStore } from '../../ports/thread-store.ts';
import {
  findHomeFault,
  findHomeIdentity,
  identifyHome,
  openHome,
} from '../file-store/home-format.ts';
import { openBucket, type BucketSettings } from './bucket.ts';
import { findSchemaFault, openDatabase, OtherSchema, type Database } from './database.ts';
import { createPostgresArtifactStore, type ArtifactPlace } from './postgres-artifact-store.ts';
import { checkDatabase, listRefs } from './postgres-upkeep.ts';
import { pruneDatabase } from './prune-database.ts';
import {
  createEntries,
  createPostgresEffectLedger,
  createPostgresReplyLedger,
  createPostgresRunIndex,
  createPostgresSharedValues,
  listRows,
  placeOf,
  readIndexEntry,
  readReply,
} from './postgres-ledgers.ts';

/** Opens a store in a PostgreSQL database, for workers and clients on many machines. */
export function openPostgresStores(
  {
    home,
    storeUrl,
    artifacts: bucketSettings,
    cacheMaxBytes,
    cipher,
  }: {
    readonly home: string;
    readonly storeUrl: string;
    readonly artifacts?: BucketSettings | undefined;
    readonly cacheMaxBytes?: number | undefined;
    readonly cipher?: Cipher | undefined;
  },
  threads: ThreadStore,
): Stores {
  const db = openDatabase(storeUrl);
  const at = placeArtifacts(db, bucketSettings);
  const { bucket, place } = at;
  const artifacts = createPostgresArtifactStore(at, cacheMaxBytes);
  const store = encryptStore(artifacts, cipher);
  const index = createPostgresRunIndex(db, 'run');
  const { identify, forget } = createIdentity(at, home);
  return {
    place,
    store,
    index,
    research: encryptNames(createPostgresRunIndex(db, 'research'), cipher),
    ledger: encryptLedger(createPostgresReplyLedger(db, artifacts), cipher),
    effects: encryptEffects(createPostgresEffectLedger(db), cipher),
    shared: createPostgresSharedValues(db),
    threads,
    contents: listContents(db),
    open: async () => {
      try {
        await db.query('read', 'SELECT 1');
        await bucket?.tryWrite();
      } catch (error) {
        if (error instanceof OtherSchema) return error.message;
        throw error;
      }
      // The home has the files for people, and working copies.
      return openHome(home);
    },
    findFault: async () => {
      const fault = findSchemaFault(db.place, await db.readVersion());
      if (fault !== null) return fault;
      await bucket?.tryRead();
      return findHomeFault(home);
    },
    identify,
    adopt: async (ids) => {
      const sql =
        'INSERT INTO planwave_store_ids SELECT unnest($1::text[]), false ON CONFLICT DO NOTHING';
      await db.query('write', sql, [ids]);
      forget();
    },
    findIdentity: async () => ((await db.readVersion()) === 0 ? null : identify()),
    prune: (options) => pruneDatabase({ ...at, store, index, home, ...options }),
    check: (options) => checkDatabase({ ...at, store, artifacts, index, ...options }),
    close: async () => {
      await Promise.all([db.close(), threads.close()]);
    },
  };
}

function placeArtifacts(db: Database, settings: BucketSettings | undefined): ArtifactPlace {
  const bucket = settings === undefined ? null : openBucket(settings);
  const place = bucket === null ? db.place : `${db.place} with artifacts in ${bucket.place}`;
  let id: string | null = null;
  const owner = async (): Promise<string> => (id ??= await readOwnId(db));
  return { db, bucket, place, owner };
}

async function readOwnId(db: Database): Promise<string> {
  const [row] = await db.query('read', 'SELECT id FROM planwave_store_ids WHERE is_own');
  return String(row?.['id']);
}

function listContents(db: Database): StoreContents {
  return {
    artifacts: () => listRefs(db),
    async *replies(onDamaged) {
      for await (const row of listRows(db, 'true', [])) {
        const entry = readReply(row);
        if (entry !== null) yield entry;
        else onDamaged?.(`the entry ${String(row['seq'])} of planwave_replies`);
      }
    },
    async *damagedRuns() {
      for await (const { key, text } of createEntries(db, 'run').list()) {
        if (readIndexEntry(text) === null) yield placeOf(key);
      }
    },
    async *effects() {
      for await (const { key } of createEntries(db, 'effect').list()) yield key;
    },
  };
}

/** Identifies a store with its home, which is looked up each time: it may be unmounted or moved while this process works. */
function createIdentity({ db, place }: ArtifactPlace, home: string) {
  let known: Pick<StoreIdentity, 'id' | 'copied'> | null = null;
  let hadHome = false;
  return {
    identify: async (): Promise<StoreIdentity> => {
      known ??= await readIds(db);
      const own = await (hadHome ? identifyHome(home) : findHomeIdentity(home));
      hadHome ||= own !== null;
      return { place, ...known, ...(own !== null && { home: own }) };
    },
    /** Called when ids were added. */
    forget: (): void => {
      known = null;
    },
  };
}

async function readIds(db: Database): Promise<Pick<StoreIdentity, 'id' | 'copied'>> {
  const sql = 'SELECT id FROM planwave_store_ids ORDER BY is_own DESC, id';
  const [id = '', ...copied] = (await db.query('read', sql)).map((row) => String(row['id']));
  return { id, ...(copied.length > 0 && { copied }) };
}
