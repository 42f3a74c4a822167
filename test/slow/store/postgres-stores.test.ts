import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '../../../activities/adapters/file-store/home-format.ts';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { newestVersion } from '../../../activities/adapters/postgres-store/database.ts';
import { hashName } from '../../../activities/adapters/postgres-store/postgres-ledgers.ts';
import type { Cipher } from '../../../activities/ports/cipher.ts';
import type { Stores } from '../../../activities/ports/stores.ts';
import { createStoreCipher } from '../../../encryption/encrypting-codec.ts';
import { startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createDatabaseUnderTest, damage, executeSql } from '../../support/database-under-test.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { itStores } from '../../support/store-contract.ts';
import { storedArtifacts } from '../../support/stored-records.ts';
import { testKeys } from '../../support/test-keys.ts';
import { canMountForAll, expectFullDiskSurvived, mountDisk } from '../../support/tiny-disk.ts';
import type { MountedDisk } from '../../support/tiny-disk.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { runScript } from '../../support/worker-process.ts';
import { createTemporaryHome } from '../../unit/adapters/temporary-home.ts';
import type { TemporaryHome } from '../../unit/adapters/temporary-home.ts';

let postgres: OwnPostgres;
let at: TemporaryHome;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  at = await createTemporaryHome();
});
afterAll(async () => {
  await postgres.stop();
  await at.remove();
});

const execute = (sql: string, values?: readonly unknown[], url = postgres.url) =>
  executeSql(url, sql, values);

/** Makes a database that nobody has used. */
async function createDatabase(name: string): Promise<string> {
  await execute(`CREATE DATABASE ${name}`);
  return postgres.url.replace(/postgres$/, name);
}

async function withStores<T>(url: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = openStores({ home: join(at.home, 'home'), storeUrl: url, cacheMaxBytes: 0 });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

describe('a database', () => {
  itStores(() => createDatabaseUnderTest(postgres.url));
});

describe('tables', () => {
  it('SQD1: 16 that begin at once make those of a new database once, and keep their threads there', async () => {
    const url = await createDatabase('begun_at_once');
    const stores = Array.from({ length: 16 }, () => openStores({ home: at.home, storeUrl: url }));
    expect(await Promise.all(stores.map((one) => one.open()))).toEqual(stores.map(() => null));
    expect(await execute('SELECT version FROM planwave_store_schema', [], url)).toEqual([
      { version: newestVersion },
    ]);
    expect(await execute('SELECT id FROM planwave_store_ids', [], url)).toHaveLength(1);
    const threads = await stores[0]?.threads.list({ limit: 5, userId: null });
    expect(threads).toEqual({ threads: [], total: 0 });
    expect(await execute('SELECT version FROM planwave_thread_schema', [], url)).toHaveLength(1);
    await Promise.all(stores.map((one) => one.close()));
  });

  it.each([
    ['a newer planwave', 99, `up to ${newestVersion}. Try: update this planwave`],
    ['an old checkout', 3, 'from 4 on. Try: the planwave that made them, or name another database'],
  ])('SQD2: of %s are refused, and a look makes none', async (_, version, known) => {
    const url = await createDatabase(`of_version_${version}`);
    expect(await withStores(url, (stores) => stores.findFault())).toBeNull();
    const made = "SELECT 1 FROM pg_class WHERE relname LIKE 'planwave%'";
    expect(await execute(made, [], url)).toEqual([]);
    await withStores(url, (stores) => stores.store.put('text'));
    await execute('UPDATE planwave_store_schema SET version = $1', [version], url);
    const said = `${url.replace(/\/\/.*@/, '//')} has tables of version ${version}; this planwave knows those ${known}`;
    await withStores(url, async (stores) => {
      expect(await stores.open()).toContain(said);
      expect(await stores.findFault()).toContain(said);
      const error = { type: 'StoreUnavailable', message: expect.stringContaining(said) };
      await expect(stores.store.put('text')).rejects.toMatchObject(error);
      await expect(stores.index.read('run')).rejects.toMatchObject(error);
    });
    const found = await execute('SELECT version FROM planwave_store_schema', [], url);
    expect(found).toEqual([{ version }]);
  });
});

/** Names the tables that hold a word, as text or as bytes. */
async function findWord(word: string, url: string): Promise<readonly string[]> {
  const spellings = [word, Buffer.from(word).toString('hex')].map((text) => text.toLowerCase());
  const names = ['artifacts', 'replies', 'entries', 'thread_entries', 'thread_delegations'];
  const found: string[] = [];
  for (const name of [...names, 'thread_words']) {
    const rows = await execute(`SELECT t::text AS row FROM planwave_${name} t`, [], url);
    expect(rows).not.toEqual([]);
    const text = JSON.stringify(rows).toLowerCase();
    if (spellings.some((spelling) => text.includes(spelling))) found.push(name);
  }
  return found;
}

it('with keys a database holds no word of what is stored, and without keys each table does', async () => {
  const word = 'zwiebelturm';
  const fill = async (url: string, cipher?: Cipher): Promise<void> => {
    const stores = openStores({ home: join(at.home, 'home'), storeUrl: url, cipher });
    const key = { workflow_id: 'run', run_id: 'r', activity_id: '1' };
    const ref = await stores.store.put(`The ${word}`);
    await stores.ledger.put(key, 1, { word });
    await stores.effects.put(hashName('effect'), { type: 'failed', reason: word }, 0);
    await stores.research.write(word, ref, 0);
    await stores.index.write('run', ref, 0);
    const task = kept('d1', { title: word, result: word });
    await stores.threads.append(entry({ message: word, delegations: [task] }));
    expect(await stores.store.getText(ref)).toBe(`The ${word}`);
    expect(await stores.ledger.find(key)).toEqual([{ word }]);
    expect(await stores.research.list()).toEqual([word]);
    await stores.close();
  };
  const [encrypted, plain] = [await createDatabase('encrypted'), await createDatabase('plain')];
  await fill(encrypted, createStoreCipher(testKeys('k1')));
  await fill(plain);
  expect(await findWord(word, encrypted)).toEqual([]);
  expect(await findWord(word, plain)).toHaveLength(6);
  // Addresses are checked without keys, records are not followed.
  const cipher = createStoreCipher(testKeys());
  const keyless = openStores({ home: join(at.home, 'home'), storeUrl: encrypted, cipher });
  expect(await keyless.check({ repair: false })).toMatchObject({
    faults: [],
    unchecked: [{ where: 'the records of 1 run', what: expect.stringContaining('"k1"') }],
  });
  await keyless.close();
});

describe('a connection that is cut', () => {
  it.each(['before', 'after'] as const)(
    'SQD3, SQR2, SQE2: %s a statement is carried out: it is carried out once, and its writer is told',
    async (when) => {
      const proxy = await startCuttingProxy(await createDatabase(`cut_${when}`));
      await withStores(proxy.url, async ({ store, ledger, index, effects }) => {
        await store.put('first');
        const batch = store.openBatch();
        const ref = await batch.put('node');
        const key = { workflow_id: 'run', run_id: 'r', activity_id: '1' };

        proxy.cutNext(when, 'planwave_replies');
        await ledger.put(key, 1, { ref }, batch);
        expect(proxy.cuts()).toBe(1);
        expect(await ledger.find(key)).toEqual([{ ref }]);
        expect(await store.getText(ref)).toBe('node');
        const count = 'SELECT count(*)::int AS n FROM planwave_replies';
        const database = postgres.url.replace(/postgres$/, `cut_${when}`);
        expect(await execute(count, [], database)).toEqual([{ n: 1 }]);

        proxy.cutNext(when, 'INSERT INTO planwave_entries');
        expect(await index.write('run', ref, 0)).toBe(true);
        proxy.cutNext(when, 'UPDATE planwave_entries');
        expect(await index.write('run', ref, 1)).toBe(true);
        expect(await index.read('run')).toEqual({ ref, version: 2 });
        proxy.cutNext(when, 'INSERT INTO planwave_entries');
        expect(await effects.put('a'.repeat(64), { type: 'intended', round: 1 }, 0)).toBe(true);
        proxy.cutNext(when, 'planwave_artifacts');
        expect(await store.put('second')).toBe(await store.put('second'));
        expect(proxy.cuts()).toBe(5);
      });
      proxy.close();
    },
  );

  it('by a server that dies: says so without the password while it is gone, and works again', async () => {
    await withStores(postgres.url, async ({ store, index }) => {
      const ref = await store.put('before');
      await postgres.kill();
      const error = {
        type: 'StoreUnavailable',
        message: expect.stringMatching(
          /store at postgresql:\/\/127\.0\.0\.1:\d+\/postgres: no server listens there \(ECONNREFUSED\)\. Try: start .*PLANWAVE_STORE_URL.*continues by itself/,
        ),
      };
      await expect(store.getText(ref)).rejects.toMatchObject(error);
      await expect(index.write('run', ref, 0)).rejects.toMatchObject(error);
      await expect(store.put('x')).rejects.not.toThrow(postgres.password);
      await postgres.restart();
      expect(await store.getText(ref)).toBe('before');
      expect(await index.write('run', ref, 0)).toBe(true);
    });
  });
});

(canMountForAll ? describe : describe.skip)('a full disk', () => {
  let disk: MountedDisk;
  beforeAll(async () => {
    disk = mountDisk(postgres.owner ?? { uid: 0, gid: 0 });
    await execute(`CREATE TABLESPACE tiny LOCATION '${disk.folder}'`);
    await execute('CREATE DATABASE tiny TABLESPACE tiny');
  });
  afterAll(async () => {
    await execute('DROP DATABASE tiny WITH (FORCE)');
    await execute('DROP TABLESPACE tiny');
    disk.unmount();
  });

  it('is told with its cure, loses nothing, and takes writes when it has space', async () => {
    const url = postgres.url.replace(/postgres$/, 'tiny');
    const said = /its disk is full \(53100\)\. Try: free some space/;
    await withStores(url, async (stores) => {
      expect(await stores.open()).toBeNull();
      await expectFullDiskSurvived(stores, disk, said);
    });
  });
});

describe('upkeep', () => {
  it('finds damage, and removes what is old and in no run', async () => {
    const url = await createDatabase('upkeep');
    await withStores(url, async (stores) => {
      const { store, ledger, effects, index, research } = stores;
      const [old, damaged] = [await store.put('old'), await store.put('damaged')];
      const key = { workflow_id: 'run', run_id: 'r', activity_id: '1' };
      await ledger.put(key, 1, 'paid');
      await effects.put('a'.repeat(64), { type: 'intended', round: 1 }, 0);
      await index.write('run', 'b'.repeat(64), 0);
      await research.write('pruned', 'c'.repeat(64), 0);
      await research.write('kept', old, 0);
      const sql = `UPDATE planwave_artifacts SET ${damage('bytes')} WHERE ref = $1`;
      await execute(sql, [damaged], url);
      expect(await stores.check({ repair: false })).toMatchObject({
        runs: 1,
        records: 4,
        faults: [
          { where: `the artifact ${damaged}`, what: 'it is damaged' },
          { where: 'the run "run"', what: expect.stringContaining('is missing or damaged') },
          { where: 'the run "run"' },
        ].slice(0, 2),
      });
      const endedBefore = Math.floor(Date.now() / 1_000) - 24 * 3_600;
      await expect(stores.prune({ endedBefore, dryRun: false })).rejects.toMatchObject({
        type: 'ArtifactMissing',
      });
      await execute("DELETE FROM planwave_entries WHERE kind = 'run'", [], url);
      for (const table of ['artifacts', 'replies', 'entries']) {
        await execute(
          `UPDATE planwave_${table} SET stored_at = now() - interval '2 days'`,
          [],
          url,
        );
      }
      // As young as a new one.
      await store.put('old');
      const dry = await stores.prune({ endedBefore, dryRun: true });
      expect(dry).toMatchObject({ records: 4, runs: [], kept_by: null });
      expect(await stores.prune({ endedBefore, dryRun: false })).toEqual(dry);
      expect(await store.has(old)).toBe(true);
      expect(await store.has(damaged)).toBe(false);
      expect(await research.list()).toEqual(['kept']);
      expect(await ledger.find(key)).toEqual([]);
      expect(await effects.find('a'.repeat(64))).toEqual({ state: null, version: 0 });
    });
  });
});

it('a prune counts and removes more old replies and effects than one statement may take', async () => {
  const url = await createDatabase('many_rows');
  const counts = { replies: 200_000, entries: 1_001 };
  await withStores(url, async (stores) => {
    await stores.open();
    const old = "now() - interval '2 days' FROM generate_series(1, $1) AS n";
    const reply = `INSERT INTO planwave_replies (id, key, attempt, root, body, stored_at)
      SELECT gen_random_uuid(), md5(n::text), 1, 'root', 'body', ${old}`;
    const effect = `INSERT INTO planwave_entries (kind, key, version, writer, body, stored_at)
      SELECT 'effect', md5(n::text), 1, gen_random_uuid(), 'body', ${old}`;
    await execute(reply, [counts.replies], url);
    await execute(effect, [counts.entries], url);
    await stores.effects.put('a'.repeat(64), { type: 'intended', round: 1 }, 0);
    const endedBefore = Math.floor(Date.now() / 1_000) - 24 * 3_600;
    const dry = await stores.prune({ endedBefore, dryRun: true });
    const records = counts.replies + counts.entries;
    expect(dry).toMatchObject({ records, bytes: records * 4 });
    expect(await stores.prune({ endedBefore, dryRun: false })).toEqual(dry);
    expect(await execute('SELECT 1 FROM planwave_replies', [], url)).toEqual([]);
    expect(await execute('SELECT 1 FROM planwave_entries', [], url)).toHaveLength(1);
  });
});

it('a home beside a database that is gone while its process works is waited for, not made anew', async () => {
  const url = await createDatabase('home_gone');
  const home = join(at.home, 'beside');
  const stores = openStores({ home, storeUrl: url });
  const { home: known } = await stores.open().then(() => stores.identify());
  expect(known?.id).toMatch(/./);
  await rename(home, `${home}-aside`);
  await mkdir(home);
  await expect(stores.identify()).rejects.toMatchObject({
    type: 'StoreUnavailable',
    message: expect.stringContaining(`The artifact home "${home}" is gone`),
  });
  // A worker that is started now makes another one: its id tells it apart.
  await openHome(home);
  expect((await stores.identify()).home?.id).not.toBe(known?.id);
  await rm(home, { recursive: true });
  await rename(`${home}-aside`, home);
  expect((await stores.identify()).home).toEqual(known);
  await stores.close();
});

describe('a copy', () => {
  it('CPS1, CPS2: into a database and back, killed at several places, has everything once', async () => {
    const from = join(at.outside, 'from');
    const home = openStores({ home: from });
    expect(await home.open()).toBeNull();
    const refs: string[] = [];
    for (let nth = 0; nth < 400; nth += 1) {
      const batch = home.store.openBatch();
      refs.push(await batch.put(`text ${nth} ${'x'.repeat(nth * 20)}`));
      const key = { workflow_id: `run-${nth % 7}`, run_id: 'r', activity_id: String(nth) };
      await home.ledger.put(key, 1, { nth, ref: refs.at(-1) }, batch);
    }
    await home.index.write('run-1', refs[0] ?? '', 0);
    await home.threads.append(entry({ thread_id: 'copied' }));
    await home.close();
    const url = await createDatabase('copied');
    const copy = (source: string, target: string) =>
      runScript(['store', 'copy', source, target], { PLANWAVE_HOME: at.home });
    const count = async (): Promise<number> => {
      const sql = 'SELECT count(*)::int AS n FROM planwave_artifacts';
      const [row] = await execute(sql, [], url);
      return Number(row?.['n']);
    };
    await withStores(url, (stores) => stores.open());
    // Slow enough to be killed in the middle.
    await execute(
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END';
      CREATE TRIGGER wait BEFORE INSERT ON planwave_artifacts FOR EACH ROW EXECUTE FUNCTION wait()`,
      [],
      url,
    );
    for (const least of [1, 150]) {
      const killed = copy(from, url);
      while ((await count()) < least) await sleep(150);
      killed.signal('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
    }
    await execute('DROP TRIGGER wait ON planwave_artifacts', [], url);
    const partly = await count();
    expect(partly).toBeLessThan(400);
    const last = copy(from, url);
    expect([await last.ended, last.output()]).toEqual([
      'exit code 0',
      expect.stringMatching(
        new RegExp(`^Copied ${400 - partly} artifacts, .*, ${partly} were there already`, 'm'),
      ),
    ]);
    const back = join(at.outside, 'back');
    const returned = copy(url, back);
    expect([await returned.ended, returned.output()]).toEqual([
      'exit code 0',
      expect.stringContaining('Copied 400 artifacts, 400 paid replies, 0 side effects, 1 name, 1'),
    ]);
    expect(await storedArtifacts(back)).toEqual(await storedArtifacts(from));
    const copied = openStores({ home: back });
    expect(await copied.ledger.list('run-1', 0)).toHaveLength(57);
    expect(await copied.index.read('run-1')).toEqual({ ref: refs[0], version: 1 });
    await copied.close();
  });
});
