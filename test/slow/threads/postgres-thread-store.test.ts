import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Client } from 'pg';
import { createPostgresThreadStore } from '../../../activities/adapters/thread-store/postgres-thread-store.ts';
import type { ThreadStore } from '../../../activities/ports/thread-store.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { itKeepsThreads } from '../../support/thread-store-contract.ts';
import { itLooksAfterThreads } from '../../support/thread-upkeep-contract.ts';

const all = { messages: 100, delegations: 100, exceptRun: '' };

let postgres: OwnPostgres;
beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(() => postgres.stop());

async function execute(sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A database that nobody has used. */
async function createDatabase(name: string): Promise<string> {
  await execute(`CREATE DATABASE ${name}`);
  return urlOf(name);
}

function urlOf(database: string): string {
  return postgres.url.replace(/postgres$/, database);
}

async function withStore<T>(url: string, work: (store: ThreadStore) => Promise<T>): Promise<T> {
  const store = createPostgresThreadStore({ url });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function faultOf(url: string): Promise<string> {
  return withStore(url, async (store) => {
    const faults = await Promise.allSettled([store.append(entry()), store.load('t', all)]);
    expect(faults).toMatchObject([
      { status: 'rejected', reason: { name: 'ThreadUnavailable', type: 'ThreadUnavailable' } },
      { status: 'rejected', reason: { name: 'ThreadUnavailable', type: 'ThreadUnavailable' } },
    ]);
    return faults
      .map((fault) => (fault.status === 'rejected' ? String(fault.reason) : ''))
      .join('\n');
  });
}

describe('threads in PostgreSQL', () => {
  itKeepsThreads(() => createPostgresThreadStore({ url: postgres.url }));

  it('workers that begin at once make the tables of a new database once', async () => {
    const url = await createDatabase('begun_at_once');
    const stores = [1, 2, 3, 4].map(() => createPostgresThreadStore({ url }));
    await Promise.all(stores.map((store) => store.append(entry({ thread_id: 'crowd' }))));
    const { messages } = await createPostgresThreadStore({ url }).load('crowd', all);
    expect(messages).toHaveLength(8);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('case 4.4: a delegation that can not be read is left out and counted, the messages stay', async () => {
    const one = entry({ delegations: [kept('good'), kept('torn')] });
    await withStore(postgres.url, async (store) => {
      await store.append(one);
      await execute(
        `UPDATE planwave_thread_delegations SET body = '{"title"' WHERE task_id = 'design.torn'`,
      );
      expect(await store.load(one.thread_id, all)).toMatchObject({
        messages: [{}, {}],
        delegations: [{ delegation: { title: 'Task good' } }],
        unreadable: 1,
      });
    });
  });

  it('a user that may not make tables can use those that are there', async () => {
    const url = await createDatabase('granted');
    await withStore(url, (store) => store.append(entry({ thread_id: 'g' })));
    await execute(`CREATE ROLE guest LOGIN PASSWORD 'guest-password'`);
    const grants = new Client({ connectionString: url });
    await grants.connect();
    await grants.query(
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest',
    );
    await grants.end();
    const asGuest = new URL(url);
    [asGuest.username, asGuest.password] = ['guest', 'guest-password'];
    await withStore(asGuest.href, async (store) => {
      await store.append(entry({ thread_id: 'g' }));
      expect((await store.load('g', all)).messages).toHaveLength(4);
    });
    const elsewhere = new URL(asGuest.href);
    elsewhere.pathname = '/postgres';
    expect(await faultOf(elsewhere.href)).toContain('the user may not do this (42501). Try: grant');
  });
});

describe('threads in PostgreSQL that people look after', () => {
  beforeAll(() => createDatabase('looked_after'));
  itLooksAfterThreads(() => createPostgresThreadStore({ url: urlOf('looked_after') }));
});

describe('part of fault 35: a database that can not be used', () => {
  it('says where it is and why, never by which password', async () => {
    const wrong = new URL(postgres.url);
    const host = `postgresql://${wrong.host}`;
    wrong.password = 'a-wrong-password';
    const refused = await faultOf(wrong.href);
    expect(refused).toContain(`threads at ${host}/postgres: it refuses user or password (28P01)`);
    const lost = await faultOf(postgres.url.replace(/postgres$/, 'nowhere'));
    expect(lost).toContain(`${host}/nowhere: it has no such database (3D000). Try: create it`);
    const unknown = await faultOf('postgresql://planwave:secret-word@planwave.invalid/planwave');
    // Without a name server that answers, the time is up first.
    expect(unknown).toMatch(
      /threads at postgresql:\/\/planwave\.invalid\/planwave: .* Try: (?:check|look)/,
    );
    for (const text of [refused, lost, unknown]) {
      expect(text).not.toMatch(/a-wrong-password|secret-word/);
      expect(text).not.toContain(postgres.password);
    }
  });

  it('one that takes the connection and says nothing is given up', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => {})));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the documentation of `address` has it
    const { port } = silent.address() as AddressInfo;
    const said = await faultOf(`postgresql://planwave:secret@127.0.0.1:${port}/planwave`);
    expect(said).toContain(
      `postgresql://127.0.0.1:${port}/planwave: it does not answer. Try: look`,
    );
    expect(sockets.length).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('a table that somebody has locked is not waited for', async () => {
    const url = await createDatabase('locked');
    await withStore(url, async (store) => {
      await store.append(entry({ thread_id: 'l' }));
      const holder = new Client({ connectionString: url });
      await holder.connect();
      await holder.query('BEGIN; LOCK TABLE planwave_thread_entries');
      await expect(store.append(entry({ thread_id: 'l' }))).rejects.toMatchObject({
        name: 'ThreadUnavailable',
      });
      await holder.end();
      await store.append(entry({ thread_id: 'l' }));
      expect((await store.load('l', all)).messages).toHaveLength(4);
    });
  });

  it('was made by a newer planwave', async () => {
    const url = await createDatabase('newer');
    await withStore(url, (store) => store.append(entry()));
    const changed = new Client({ connectionString: url });
    await changed.connect();
    await changed.query('UPDATE planwave_thread_schema SET version = 7');
    await changed.end();
    expect(await faultOf(url)).toContain('have version 7; this planwave knows version 1. Try: ');
  });

  it('one that dies is named while it is gone, and used again when it is back', async () => {
    await withStore(postgres.url, async (store) => {
      await store.append(entry({ thread_id: 'killed' }));
      await postgres.kill();
      await expect(store.load('killed', all)).rejects.toMatchObject({ name: 'ThreadUnavailable' });
      expect(await faultOf(postgres.url)).toContain(
        'no server listens there (ECONNREFUSED). Try: start',
      );
      await postgres.restart();
      expect((await store.load('killed', all)).messages).toHaveLength(2);
    });
  });
});
