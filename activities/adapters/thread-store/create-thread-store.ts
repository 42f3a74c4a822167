import type { ThreadStore } from '../../ports/thread-store.ts';

export interface ThreadStoreOptions {
  /** An absolute path. */
  readonly home: string;
  /** If undefined, the database of `storeUrl`. */
  readonly threadsUrl?: string | undefined;
  /** If undefined, a file of the artifact home. */
  readonly storeUrl?: string | undefined;
}

/** Creates the store of threads. The code of its database is loaded when it is first used: few commands need it. */
export function createThreadStore(options: ThreadStoreOptions): ThreadStore {
  let opened: Promise<ThreadStore> | null = null;
  const open = (): Promise<ThreadStore> => (opened ??= loadThreadStore(options));
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

async function loadThreadStore({
  home,
  threadsUrl,
  storeUrl,
}: ThreadStoreOptions): Promise<ThreadStore> {
  const url = threadsUrl ?? storeUrl;
  if (url === undefined) {
    const { createSqliteThreadStore } = await import('./sqlite-thread-store.ts');
    return createSqliteThreadStore({ home });
  }
  const { createPostgresThreadStore } = await import('./postgres-thread-store.ts');
  const setting = threadsUrl === undefined ? 'PLANWAVE_STORE_URL' : 'PLANWAVE_THREADS_URL';
  return createPostgresThreadStore({ url, setting });
}
