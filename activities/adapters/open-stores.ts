import type { ThreadStore } from '../ports/thread-store.ts';
import {
  encryptEffects,
  encryptLedger,
  encryptNames,
  encryptStore,
} from '../encryption/encrypt-ports.ts';
import { encryptThreads } from '../encryption/encrypt-threads.ts';
import type { Cipher } from '../ports/cipher.ts';
import type { Stores } from '../ports/stores.ts';
import { checkHome } from './file-store/check-home.ts';
import { createFileArtifactStore } from './file-store/file-artifact-store.ts';
import {
  createFileEffectLedger,
  listDamagedRuns,
  listEffectKeys,
  createFileReplyLedger,
  listReplies,
  createFileRunIndex,
} from './file-store/file-ledgers.ts';
import { createFileSharedValues } from './file-store/file-shared-values.ts';
import {
  adoptIds,
  findHomeFault,
  findHomeIdentity,
  identifyHome,
  openHome,
} from './file-store/home-format.ts';
import { pruneHome } from './file-store/prune-home.ts';
import { openSegments } from './file-store/segments.ts';
import type { BucketSettings } from './postgres-store/bucket.ts';
import { openPostgresStores } from './postgres-store/open-postgres-stores.ts';

interface ThreadStoreOptions {
  /** An absolute path. */
  readonly home: string;
  /** Default: the database of `storeUrl`. */
  readonly threadsUrl?: string | undefined;
  /** Default: a file of the artifact home. */
  readonly storeUrl?: string | undefined;
}

/** Creates the store of threads. The code of its database is loaded when it is first used: few commands need it. */
export function createThreadStore({ home, threadsUrl, storeUrl }: ThreadStoreOptions): ThreadStore {
  let opened: Promise<ThreadStore> | null = null;
  const load = async (): Promise<ThreadStore> => {
    const url = threadsUrl ?? storeUrl;
    if (url === undefined) {
      const { createSqliteThreadStore } = await import('./thread-store/sqlite-thread-store.ts');
      return createSqliteThreadStore({ home });
    }
    const { createPostgresThreadStore } = await import('./thread-store/postgres-thread-store.ts');
    const setting = threadsUrl === undefined ? 'PLANWAVE_STORE_URL' : 'PLANWAVE_THREADS_URL';
    return createPostgresThreadStore({ url, setting });
  };
  const open = (): Promise<ThreadStore> => (opened ??= load());
  return {
    load: async (...asked) => (await open()).load(...asked),
    append: async (...asked) => (await open()).append(...asked),
    search: async (...asked) => (await open()).search(...asked),
    list: async (...asked) => (await open()).list(...asked),
    read: async (...asked) => (await open()).read(...asked),
    count: async (...asked) => (await open()).count(...asked),
    remove: async (...asked) => (await open()).remove(...asked),
    close: async () => (await opened)?.close(),
  };
}

export interface StoresOptions extends ThreadStoreOptions {
  /** Most bytes of artifacts that stay in memory. Default 64 MiB; 0 keeps nothing. */
  readonly cacheMaxBytes?: number | undefined;
  /** The bucket for artifacts beside the database of `storeUrl`. If undefined, they are in the database. */
  readonly artifacts?: BucketSettings | undefined;
  /** Encrypts content and decrypts it. If undefined, it is read and written as it stands, as for a copy. */
  readonly cipher?: Cipher | undefined;
}

/**
 * Opens the store that the settings name: the files of the artifact home, or the database of `storeUrl`. Nothing is read,
 * written or connected before the first use.
 */
export function openStores(options: StoresOptions): Stores {
  const threads = encryptThreads(createThreadStore(options), options.cipher);
  const { storeUrl } = options;
  return storeUrl === undefined
    ? openFileStores(options, threads)
    : openPostgresStores({ ...options, storeUrl }, threads);
}

function openFileStores(
  { home, cacheMaxBytes, cipher }: StoresOptions,
  threads: Stores['threads'],
): Stores {
  const segments = openSegments({ home, ...(cacheMaxBytes !== undefined && { cacheMaxBytes }) });
  const store = encryptStore(createFileArtifactStore({ segments }), cipher);
  return {
    place: home,
    store,
    index: createFileRunIndex({ home }),
    research: encryptNames(createFileRunIndex({ home, folder: 'research' }), cipher),
    ledger: encryptLedger(createFileReplyLedger({ segments }), cipher),
    effects: encryptEffects(createFileEffectLedger({ home }), cipher),
    shared: createFileSharedValues({ home }),
    threads,
    contents: {
      async *artifacts() {
        await segments.refresh();
        yield* segments.listArtifacts();
      },
      replies: (onDamaged) => listReplies(segments, 0, onDamaged),
      async *damagedRuns() {
        yield* await listDamagedRuns(home);
      },
      async *effects() {
        yield* await listEffectKeys(home);
      },
    },
    open: () => openHome(home),
    findFault: () => findHomeFault(home),
    identify: () => identifyHome(home),
    findIdentity: () => findHomeIdentity(home),
    adopt: (ids) => adoptIds(home, ids),
    prune: (options) => pruneHome({ home, segments, store, ...options }),
    check: ({ repair }) => checkHome({ home, store, repair }),
    close: () => threads.close(),
  };
}
