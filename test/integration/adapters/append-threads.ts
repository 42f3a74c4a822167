import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { entry } from '../../support/thread-entries.ts';

/** Run as a process: adds entries to the threads of a home, as one worker of several. */
const [home = '', worker = ''] = process.argv.slice(2);
const store = createSqliteThreadStore({ home, busyMs: 60_000 });
for (let nth = 0; nth < 20; nth += 1) {
  await store.append(entry({ thread_id: 'crowd', run_id: `${worker}-${nth}` }));
}
