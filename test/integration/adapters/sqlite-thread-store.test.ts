import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'libsql';
import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { ThreadUnavailable } from '../../../activities/ports/thread-store.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { itKeepsThreads } from '../../support/thread-store-contract.ts';
import { itLooksAfterThreads } from '../../support/thread-upkeep-contract.ts';
import { canMount } from '../../support/tiny-disk.ts';
import { createTemporaryHome } from '../../unit/adapters/temporary-home.ts';
import type { TemporaryHome } from '../../unit/adapters/temporary-home.ts';

const all = { messages: 100, delegations: 100, exceptRun: '' };

let at: TemporaryHome;
beforeAll(async () => {
  at = await createTemporaryHome();
});
afterAll(() => at.remove());

describe('threads in SQLite', () => {
  itKeepsThreads(() => createSqliteThreadStore({ home: join(at.home, 'shared') }));
  itLooksAfterThreads(() => createSqliteThreadStore({ home: join(at.home, 'looked-after') }));

  it('case 4.1: needs no database: the first use makes one file, and leaves nothing else behind', async () => {
    const home = join(at.home, 'new');
    const store = createSqliteThreadStore({ home });
    const one = entry();
    await store.append(one);
    expect(await readdir(home)).toEqual(['threads.db']);
    // A worker that begins later.
    const { messages } = await createSqliteThreadStore({ home }).load(one.thread_id, all);
    expect(messages).toHaveLength(2);
  });

  it('several processes that begin at once share a new file, and no entry is lost', async () => {
    const home = join(at.home, 'processes');
    const script = fileURLToPath(new URL('append-threads.ts', import.meta.url));
    await Promise.all(
      ['a', 'b', 'c'].map((worker) =>
        promisify(execFile)(process.execPath, ['--import', 'tsx', script, home, worker]),
      ),
    );
    const { messages, delegations } = await createSqliteThreadStore({ home }).load('crowd', all);
    expect(messages.slice(0, 2)).toHaveLength(2);
    expect(delegations).toHaveLength(60);
  });

  it('case 4.4: a delegation that can not be read is left out and counted, the messages stay', async () => {
    const home = join(at.home, 'unreadable');
    const store = createSqliteThreadStore({ home });
    const one = entry({ delegations: [kept('good'), kept('torn'), kept('old')] });
    await store.append(one);
    const db = new Database(join(home, 'threads.db'));
    db.exec(
      `UPDATE planwave_thread_delegations SET body = '{"title"' WHERE task_id = 'design.torn'`,
    );
    db.exec(`UPDATE planwave_thread_delegations SET body = '{"v":0}' WHERE task_id = 'design.old'`);
    db.close();
    const good = [{ delegation: { title: 'Task good' } }];
    const thread = await store.load(one.thread_id, all);
    expect(thread).toMatchObject({ delegations: good, unreadable: 2 });
    expect(thread.messages).toHaveLength(2);
    const found = await store.search(one.thread_id, 'task', { limit: 9, exceptRun: '' });
    expect(found).toMatchObject({ delegations: good, unreadable: 2 });
  });

  it('whoever only looks makes no file', async () => {
    const home = join(at.home, 'looked-at');
    const store = createSqliteThreadStore({ home });
    await store.list({ limit: 1, userId: null });
    await store.read('t', 1);
    await store.count({ thread_id: 't' });
    await store.remove({ thread_id: 't' });
    await expect(access(home)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('nothing of what was deleted is left in the file', async () => {
    const home = join(at.home, 'deleted');
    const store = createSqliteThreadStore({ home });
    const write = (word: string, thread_id: string): Promise<void> =>
      store.append(
        entry({
          thread_id,
          message: `${word} asked ${'x'.repeat(3_000)}`,
          delegations: [kept('d1', { task: `${word} was looked for` }), kept('d2')],
        }),
      );
    for (let nth = 0; nth < 15; nth += 1) {
      await write('sassafras', 'goes');
      await write('chamomile', 'stays');
    }
    const holds = async (word: string): Promise<boolean> =>
      (await readFile(join(home, 'threads.db'))).includes(word);
    expect(await holds('sassafras')).toBe(true);
    expect(await store.remove({ thread_id: 'goes' })).toMatchObject({ entries: 15 });
    expect(await holds('sassafras')).toBe(false);
    expect(await holds('chamomile')).toBe(true);
    expect(
      (await store.search('stays', 'chamomile', { limit: 99, exceptRun: '' })).delegations,
    ).toHaveLength(15);
  });

  it('what can not be read is left out and counted, for who looks too', async () => {
    const home = join(at.home, 'half-read');
    const store = createSqliteThreadStore({ home });
    const good = entry({ thread_id: 't', delegations: [kept('good'), kept('torn')] });
    await store.append(entry({ thread_id: 't', at: 2, delegations: [] }));
    await store.append(good);
    const db = new Database(join(home, 'threads.db'));
    db.exec(
      `UPDATE planwave_thread_delegations SET body = '{"title"' WHERE task_id = 'design.torn'`,
    );
    db.exec("UPDATE planwave_thread_entries SET message = x'00' WHERE at = 2");
    db.exec('UPDATE planwave_thread_entries SET at = 9e15');
    db.close();
    expect(await store.read('t', 9)).toEqual({
      entries: [{ ...good, at: 0, delegations: [kept('good')] }],
      total: 2,
      unreadable: 2,
    });
    expect(await store.list({ limit: 9, userId: null })).toEqual({
      threads: [{ thread_id: 't', user_ids: [], entries: 2, newest_at: 0 }],
      total: 1,
    });
  });
});

function readMessage(error: unknown): string {
  return error instanceof ThreadUnavailable ? error.message : `another error: ${String(error)}`;
}

function refused(message: string): unknown {
  return expect.objectContaining({
    name: 'ThreadUnavailable',
    message: expect.stringContaining(message),
  });
}

/** Collects the errors that each user of the store gets. */
async function faultsAt(home: string): Promise<string[]> {
  const store = createSqliteThreadStore({ home, busyMs: 100 });
  return Promise.all(
    [
      store.append(entry()),
      store.load('t', all),
      store.search('t', 'tea', { limit: 1, exceptRun: '' }),
      store.list({ limit: 1, userId: null }),
      store.read('t', 1),
      store.count({ thread_id: 't' }),
      store.remove({ thread_id: 't' }),
    ].map((use) => use.then(() => 'no fault', readMessage)),
  );
}

/** The same of all seven. */
function everywhere(message: string): unknown[] {
  return Array.from({ length: 7 }, () => expect.stringContaining(message));
}

describe('part of fault 35: a file that can not be used', () => {
  it('is no database', async () => {
    const home = join(at.home, 'no-database');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'threads.db'), 'This is no database. '.repeat(500));
    expect(await faultsAt(home)).toEqual(
      everywhere('the file is damaged (SQLITE_NOTADB). Try: move it away'),
    );
  });

  it('is damaged in the middle, and threads begin anew when it is moved away', async () => {
    const home = join(at.home, 'damaged');
    const store = createSqliteThreadStore({ home });
    for (let nth = 0; nth < 50; nth += 1) await store.append(entry({ thread_id: 'd' }));
    const path = join(home, 'threads.db');
    const bytes = await readFile(path);
    bytes.fill(0xa5, 4_096);
    await writeFile(path, bytes);
    // Another worker: this one remembers what it has read.
    const other = createSqliteThreadStore({ home });
    await expect(other.load('d', all)).rejects.toEqual(refused('the file is damaged'));
    await rm(path);
    expect(await other.load('d', all)).toMatchObject({ messages: [] });
    await store.append(entry({ thread_id: 'd' }));
    expect((await store.load('d', all)).messages).toHaveLength(2);
  });

  it('is below a file', async () => {
    await writeFile(join(at.outside, 'file'), '');
    expect(await faultsAt(join(at.outside, 'file', 'home'))).toEqual(
      everywhere('a part of the path is a file, not a directory'),
    );
  });

  it('is a folder', async () => {
    const home = join(at.home, 'folder');
    await mkdir(join(home, 'threads.db'), { recursive: true });
    expect(await faultsAt(home)).toEqual(
      everywhere('Try: check the file, or name a PostgreSQL database'),
    );
  });

  it('was made by a newer planwave', async () => {
    const home = join(at.home, 'newer');
    await createSqliteThreadStore({ home }).append(entry());
    const db = new Database(join(home, 'threads.db'));
    db.exec('UPDATE planwave_thread_schema SET version = 7');
    db.close();
    expect(await faultsAt(home)).toEqual(
      everywhere('have version 7; this planwave knows version 1. Try: '),
    );
  });

  it('is held by another process, and is used as soon as it is free', async () => {
    const home = join(at.home, 'held');
    const one = entry();
    const patient = createSqliteThreadStore({ home, busyMs: 30_000 });
    await patient.append(one);
    const holder = new Database(join(home, 'threads.db'));
    holder.exec('BEGIN EXCLUSIVE');
    expect(await faultsAt(home)).toEqual(
      everywhere('another process has been writing to it for seconds (SQLITE_BUSY)'),
    );
    const added = patient.append(entry({ thread_id: one.thread_id }));
    holder.exec('COMMIT');
    holder.close();
    await added;
    expect((await patient.load(one.thread_id, all)).messages).toHaveLength(4);
  });
});

// Where a process may not have a file system of its own, the tests above stand alone.
const describeOnTinyDisk = canMount ? describe : describe.skip;

describeOnTinyDisk('part of fault 35: a file on a real disk', () => {
  it('is full, then read-only, then well', async () => {
    const script = fileURLToPath(new URL('threads-disk.ts', import.meta.url));
    const point = join(at.home, 'disk');
    await mkdir(point);
    const shell =
      'mount -t tmpfs -o size=1m tmpfs "$2" && exec "$0" --expose-gc --import tsx "$1" "$2"';
    const inNamespace = ['--map-root-user', '--mount', 'sh', '-c', shell];
    const { stdout } = await promisify(execFile)('unshare', [
      ...inNamespace,
      process.execPath,
      script,
      point,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      full: expect.stringMatching(/the disk .*Try: free some space/),
      whileFull: 2,
      readOnly: expect.stringContaining('read-only'),
      whileReadOnly: 2,
      well: 'none',
      inTheEnd: 4,
    });
  });
});
