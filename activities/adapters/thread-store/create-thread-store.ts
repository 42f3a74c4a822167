import type { ThreadStore } from '../../ports/thread-store.ts';
import { createPostgresThreadStore } from './postgres-thread-store.ts';
import { createSqliteThreadStore } from './sqlite-thread-store.ts';

/**
 * Creates the store of threads: the PostgreSQL database of `threadsUrl`, or a file of the artifact home.
 *
 * @param home An absolute path.
 */
export function createThreadStore({
  home,
  threadsUrl,
}: {
  readonly home: string;
  readonly threadsUrl: string | undefined;
}): ThreadStore {
  return threadsUrl === undefined
    ? createSqliteThreadStore({ home })
    : createPostgresThreadStore({ url: threadsUrl });
}
