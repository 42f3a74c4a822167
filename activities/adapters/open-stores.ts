import type { Stores } from '../ports/stores.ts';
import { checkHome } from './file-store/check-home.ts';
import { createFileArtifactStore } from './file-store/file-artifact-store.ts';
import { createFileEffectLedger, listEffectKeys } from './file-store/file-effect-ledger.ts';
import { createFileReplyLedger, listReplies } from './file-store/file-reply-ledger.ts';
import { createFileRunIndex } from './file-store/file-run-index.ts';
import {
  adoptHomeId,
  findHomeFault,
  findHomeIdentity,
  identifyHome,
  openHome,
} from './file-store/home-format.ts';
import { pruneHome } from './file-store/prune-home.ts';
import { openSegments } from './file-store/segments.ts';
import { openPostgresStores } from './postgres-store/open-postgres-stores.ts';
import { createThreadStore } from './thread-store/create-thread-store.ts';
import type { ThreadStoreOptions } from './thread-store/create-thread-store.ts';

export interface StoresOptions extends ThreadStoreOptions {
  /** Most bytes of artifacts that stay in memory. Default 64 MiB; 0 keeps nothing. */
  readonly cacheMaxBytes?: number | undefined;
}

/**
 * Opens the store that the settings name: the files of the artifact home, or the database of `storeUrl`. Nothing is read,
 * written or connected before the first use.
 */
export function openStores(options: StoresOptions): Stores {
  const threads = createThreadStore(options);
  const { storeUrl } = options;
  return storeUrl === undefined
    ? openFileStores(options, threads)
    : openPostgresStores({ ...options, storeUrl }, threads);
}

function openFileStores(
  { home, cacheMaxBytes }: StoresOptions,
  threads: Stores['threads'],
): Stores {
  const segments = openSegments({ home, ...(cacheMaxBytes !== undefined && { cacheMaxBytes }) });
  const store = createFileArtifactStore({ segments });
  return {
    place: home,
    store,
    index: createFileRunIndex({ home }),
    research: createFileRunIndex({ home, folder: 'research' }),
    ledger: createFileReplyLedger({ segments }),
    effects: createFileEffectLedger({ home }),
    threads,
    contents: {
      async *artifacts() {
        await segments.refresh();
        yield* segments.listArtifacts();
      },
      replies: () => listReplies(segments, 0),
      async *effects() {
        yield* await listEffectKeys(home);
      },
    },
    open: () => openHome(home),
    findFault: () => findHomeFault(home),
    identify: () => identifyHome(home),
    findIdentity: () => findHomeIdentity(home),
    adopt: (id) => adoptHomeId(home, id),
    prune: (options) => pruneHome({ home, segments, store, ...options }),
    check: ({ repair }) => checkHome({ home, store, repair }),
    close: () => threads.close(),
  };
}
