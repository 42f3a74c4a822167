import type { ThreadStore } from '../../ports/thread-store.ts';
import { createPostgresThreadStore } from './postgres-thread-store.ts';
import { createSqliteThreadStore } from './sqlite-thread-store.ts';

/**
 * Keeps threads in the PostgreSQL database that `threadsUrl` names, or else in a file of the artifact home.
 *
 * @param home absolute.
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
