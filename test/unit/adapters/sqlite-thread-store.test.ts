import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'libsql';
import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { ThreadUnavailable } from '../../../activities/ports/thread-store.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { itKeepsThreads } from '../../support/thread-store-contract.ts';
import { canMount } from '../../support/tiny-disk.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

const all = { messages: 100, delegations: 100, exceptRun: '' };

let at: TemporaryHome;
beforeAll(async () => {
  at = await createTemporaryHome();
});
afterAll(() => at.remove());

describe('threads in SQLite', () => {
  itKeepsThreads(() => createSqliteThreadStore({ home: join(at.home, 'shared') }));

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
    db.exec(`UPDATE thread_delegations SET body = '{"title"' WHERE task_id = 'design.torn'`);
    db.exec(`UPDATE thread_delegations SET body = '{"v":0}' WHERE task_id = 'design.old'`);
    db.close();
    const good = [{ delegation: { title: 'Task good' } }];
    const thread = await store.load(one.thread_id, all);
    expect(thread).toMatchObject({ delegations: good, unreadable: 2 });
    expect(thread.messages).toHaveLength(2);
    const found = await store.search(one.thread_id, 'task', { limit: 9, exceptRun: '' });
    expect(found).toMatchObject({ delegations: good, unreadable: 2 });
  });

  it('a thread is deleted by one line of SQL, its words too', async () => {
    const home = join(at.home, 'deleted');
    const store = createSqliteThreadStore({ home });
    const one = entry();
    await store.append(one);
    const db = new Database(join(home, 'threads.db'));
    db.exec(
      `PRAGMA foreign_keys = ON; DELETE FROM thread_entries WHERE thread_id = '${one.thread_id}'`,
    );
    expect(db.prepare('SELECT count(*) AS left FROM thread_delegations').get()).toMatchObject({
      left: 0,
    });
    expect(
      db.prepare(`SELECT rowid FROM thread_words WHERE thread_words MATCH 'task'`).all(),
    ).toEqual([]);
    db.close();
    expect(await store.load(one.thread_id, all)).toMatchObject({ messages: [] });
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

/** What adding an entry, loading and searching are told. */
async function faultsAt(home: string): Promise<string[]> {
  const store = createSqliteThreadStore({ home, busyMs: 100 });
  return Promise.all(
    [
      store.append(entry()),
      store.load('t', all),
      store.search('t', 'tea', { limit: 1, exceptRun: '' }),
    ].map((use) => use.then(() => 'no fault', readMessage)),
  );
}

/** The same of all three. */
function thrice(message: string): unknown[] {
  return Array.from({ length: 3 }, () => expect.stringContaining(message));
}

describe('part of fault 35: a file that can not be used', () => {
  it('is no database', async () => {
    const home = join(at.home, 'no-database');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'threads.db'), 'This is no database. '.repeat(500));
    expect(await faultsAt(home)).toEqual(
      thrice('the file is damaged (SQLITE_NOTADB). Try: move it away'),
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
      thrice('a part of the path is a file, not a directory'),
    );
  });

  it('is a folder', async () => {
    const home = join(at.home, 'folder');
    await mkdir(join(home, 'threads.db'), { recursive: true });
    expect(await faultsAt(home)).toEqual(
      thrice('Try: check the file, or name a PostgreSQL database'),
    );
  });

  it('was made by a newer planwave', async () => {
    const home = join(at.home, 'newer');
    await createSqliteThreadStore({ home }).append(entry());
    const db = new Database(join(home, 'threads.db'));
    db.exec('PRAGMA user_version = 7');
    db.close();
    expect(await faultsAt(home)).toEqual(
      thrice('have version 7; this planwave knows version 1. Try: '),
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
      thrice('another process has been writing to it for seconds (SQLITE_BUSY)'),
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
