import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores, type StoresOptions } from '../../../activities/adapters/open-stores.ts';
import { openBucket } from '../../../activities/adapters/postgres-store/bucket.ts';
import type { BucketSettings } from '../../../activities/adapters/postgres-store/bucket.ts';
import type { Stores } from '../../../activities/ports/stores.ts';
import { hashBytes } from '../../../activities/text/bytes.ts';
import type { CheckedHome } from '../../../contracts/store.ts';
import { createStoreCipher } from '../../../encryption/encrypting-codec.ts';
import { startObjectStore } from '../../cluster/object-store.ts';
import type { ObjectStore } from '../../cluster/object-store.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createDatabaseUnderTest, executeSql } from '../../support/database-under-test.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { itStores } from '../../support/store-contract.ts';
import { testKeys } from '../../support/test-keys.ts';
import { runScript } from '../../support/worker-process.ts';

const { folder: programs, missing } = findPrograms('objects');
if (programs === null) console.warn(`Artifacts in a bucket are not tested. ${missing}`);

let postgres: OwnPostgres;
let objects: ObjectStore;
let folder = '';
let database = '';
let settings: BucketSettings;

(programs === null ? describe.skip : describe)('a database with artifacts in a bucket', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'planwave-bucket-'));
    postgres = await startOwnPostgres();
    objects = await startObjectStore(programs ?? '', folder);
    settings = bucketAt(objects.url);
    database = postgres.url;
    // Makes the tables.
    await withStores({}, (stores) => stores.open());
  });
  afterAll(async () => {
    await objects.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('as every store', () => {
    itStores(() =>
      createDatabaseUnderTest(database, {
        settings,
        damage: async (object) => {
          const file = fileOf(object);
          const bytes = readFileSync(file);
          bytes.writeUInt8(255 - bytes.readUInt8(0), 0);
          writeFileSync(file, bytes);
        },
      }),
    );
  });

  ownRules();
  orphans();
  faults();
  copies();
});

function bucketAt(url: string): BucketSettings {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = objects.env;
  return { url, accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
}

async function withStores<T>(
  options: Partial<StoresOptions>,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const stores = openStores({
    home: join(folder, 'home'),
    storeUrl: database,
    artifacts: settings,
    cacheMaxBytes: 0,
    ...options,
  });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

/** Each object of versitygw is a file. */
function fileOf(object: string): string {
  return join(objects.bucket, '..', object);
}

/** Lists the objects of artifacts. */
function listObjects(): readonly string[] {
  return readdirSync(objects.bucket, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[\da-f]{64}\/[\da-f]{12}-[\da-f-]{36}$/.test(name),
  );
}

async function objectOf(ref: string): Promise<string> {
  const sql = 'SELECT object FROM planwave_artifacts WHERE ref = $1';
  const [row] = await executeSql(database, sql, [ref]);
  return String(row?.['object']);
}

function ownRules(): void {
  it('SQB1, SQB2, SQA4: writers of the same content leave one object, of encrypted bytes too', async () => {
    const before = listObjects().length;
    const secret = 'The word is zwiebelturm. '.repeat(100);
    const cipher = createStoreCipher(testKeys('k1'));
    const refs = await Promise.all(
      Array.from({ length: 8 }, () => withStores({ cipher }, ({ store }) => store.put(secret))),
    );
    expect(new Set(refs).size).toBe(1);
    expect(listObjects()).toHaveLength(before + 1);
    const [ref = ''] = refs;
    expect(readFileSync(fileOf(await objectOf(ref))).includes('zwiebelturm')).toBe(false);
    expect(await withStores({ cipher }, ({ store }) => store.getText(ref))).toBe(secret);
    // Stored again, nothing is sent.
    await withStores({ cipher }, ({ store }) => store.put(secret));
    expect(listObjects()).toHaveLength(before + 1);
  });

  it('what was in the database before is read there, and without the bucket the rest is named', async () => {
    const old = await withStores({ artifacts: undefined }, ({ store }) => store.put('old'));
    const fresh = await withStores({}, ({ store }) => store.put('fresh'));
    expect(await withStores({}, ({ store }) => store.getText(old))).toBe('old');
    const object = await objectOf(fresh);
    await withStores({ artifacts: undefined }, async (stores) => {
      const { store } = stores;
      const error = { type: 'StoreUnavailable', message: expect.stringContaining(object) };
      await expect(store.getText(fresh)).rejects.toMatchObject(error);
      await expect(stores.prune({ endedBefore: 0, dryRun: true })).rejects.toThrow(
        /s3:.* PLANWAVE_ARTIFACTS_URL is not set/,
      );
    });
    await withStores({ artifacts: bucketAt('s3://elsewhere/x') }, async ({ store }) => {
      await expect(store.getText(fresh)).rejects.toMatchObject({
        type: 'StoreUnavailable',
        message: expect.stringMatching(/is in "s3:\/\/artifacts\/.*names "s3:\/\/elsewhere\/x"/),
      });
    });
  });

  it('SQA3, SQA4: a paid reply whose artifact is there leaves one object, and the artifact as young as a new one', async () => {
    await withStores({}, async ({ store, ledger }) => {
      const ref = await store.put('said before');
      const object = await objectOf(ref);
      const age = "UPDATE planwave_artifacts SET stored_at = now() - '4 days'::interval";
      await executeSql(database, age);
      const before = listObjects().length;
      const batch = store.openBatch();
      await batch.put('said before');
      await batch.put('said now');
      const key = { workflow_id: 'run', run_id: 'twice', activity_id: '1' };
      await ledger.put(key, 1, 'paid', batch);
      expect(listObjects()).toHaveLength(before + 1);
      expect(await objectOf(ref)).toBe(object);
      const young = "SELECT ref FROM planwave_artifacts WHERE stored_at > now() - '1 h'::interval";
      expect(await executeSql(database, young)).toContainEqual({ ref });
    });
  });

  it.each(['before', 'after'] as const)(
    'SQR1, SQR2: a connection that is cut %s a reply is stored leaves its object, and no other',
    async (when) => {
      const proxy = await startCuttingProxy(database);
      await withStores({ storeUrl: proxy.url }, async ({ store, ledger }) => {
        const [before, batch] = [listObjects().length, store.openBatch()];
        const key = { workflow_id: 'run', run_id: `cut ${when}`, activity_id: '1' };
        const ref = await batch.put(when);
        proxy.cutNext(when, 'INSERT INTO planwave_replies');
        await ledger.put(key, 1, 'paid', batch);
        expect(proxy.cuts()).toBe(1);
        expect(listObjects()).toHaveLength(before + 1);
        expect([await store.getText(ref), ...(await ledger.find(key))]).toEqual([when, 'paid']);
      });
      proxy.close();
    },
  );

  it('SQA4: fsck finds a lost object, storing it again mends it, and prune removes objects with their rows', async () => {
    await withStores({}, async (stores) => {
      const ref = await stores.store.put('lost and found');
      rmSync(fileOf(await objectOf(ref)));
      const lost = { type: 'ArtifactMissing', message: expect.stringContaining(ref) };
      await expect(stores.store.get(ref)).rejects.toMatchObject(lost);
      const checked = await stores.check({ repair: false });
      expect(checked.faults).toContainEqual(
        expect.objectContaining({
          where: `the artifact ${ref}`,
          what: 'the bucket has lost its object',
        }),
      );
      await stores.store.put('lost and found');
      expect(await stores.store.getText(ref)).toBe('lost and found');
      const young = await stores.store.put('young');
      const age =
        "UPDATE planwave_artifacts SET stored_at = now() - interval '2 days' WHERE ref <> $1";
      await executeSql(database, age, [young]);
      const object = await objectOf(ref);
      const endedBefore = Math.floor(Date.now() / 1_000) - 24 * 3_600;
      const pruned = await stores.prune({ endedBefore, dryRun: false });
      expect(pruned.bytes).toBeGreaterThan(0);
      expect([await stores.store.has(ref), await stores.store.has(young)]).toEqual([false, true]);
      expect([existsSync(fileOf(object)), existsSync(fileOf(await objectOf(young)))]).toEqual([
        false,
        true,
      ]);
    });
  });
}

/** Puts an object and its row some days into the past. */
async function backdate(object: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * 86_400_000);
  utimesSync(fileOf(object), then, then);
  const sql = 'UPDATE planwave_artifacts SET stored_at = $2 WHERE object = $1';
  await executeSql(database, sql, [object, then]);
}

/** Uploads an object and dies before its row. */
async function upload(content: string, owner?: string): Promise<string> {
  const ref = hashBytes(Buffer.from(content));
  return openBucket(settings).put(ref, Buffer.from(content), owner ?? (await readOwner()));
}

async function readOwner(): Promise<string> {
  const [row] = await executeSql(database, 'SELECT id FROM planwave_store_ids WHERE is_own');
  return String(row?.['id']);
}

function put(text: string): Promise<string> {
  return withStores({}, async ({ store }) => objectOf(await store.put(text)));
}

function check(removeOrphans: boolean): Promise<CheckedHome> {
  return withStores({}, (stores) => stores.check({ repair: false, removeOrphans }));
}

function isThere(names: readonly string[]): readonly boolean[] {
  return names.map((object) => existsSync(fileOf(object)));
}

function orphans(): void {
  it('SQA5, SQB4: fsck names objects that no row names after a day, and removes these alone on request', async () => {
    await executeSql(database, 'TRUNCATE planwave_artifacts, planwave_entries');
    const [named, newest] = [await put('named'), await put('newest')];
    const left = await upload('killed before its row');
    const again = await upload('named');
    const fresh = await upload('killed a moment ago');
    const others = await upload('of another store in the same bucket', 'abcdefabcdef');
    for (const one of [named, left, again, others]) await backdate(one, 3);
    expect(await check(false)).toMatchObject({
      faults: [
        {
          where: 's3://artifacts/planwave',
          what: expect.stringMatching(/^2 objects of 0\.0 MB that nothing in the database names/),
          cure: expect.stringContaining('fsck --remove-orphans'),
        },
      ],
      repaired: [],
    });
    const all = [named, newest, left, again, fresh, others];
    expect(isThere(all)).toEqual([true, true, true, true, true, true]);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [{}] });
    expect(isThere(all)).toEqual([true, true, false, false, true, true]);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [] });
    // Where a dump of four days ago was restored, what came after it may belong to the original.
    await backdate(newest, 4);
    await backdate(named, 4);
    await backdate(fresh, 3);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [] });
    expect(isThere([fresh])).toEqual([true]);
  });

  it('SQB4: more objects than a page has are all found', async () => {
    const names: string[] = [];
    const uploadSome = async (): Promise<void> => {
      while (names.length < 1_010) {
        names.push(await upload(`one of many, ${randomUUID()}`, '0123456789ab'));
      }
    };
    await Promise.all(Array.from({ length: 16 }, uploadSome));
    const listed: string[] = [];
    for await (const { object } of openBucket(settings).list('0123456789ab')) listed.push(object);
    expect(listed.toSorted()).toEqual(names.toSorted());
  });

  it('SQA5: a worker that was suspended for a day between an upload and its row names no object', async () => {
    await withStores({}, async ({ store, ledger }) => {
      const late = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 86_400_000);
      const key = { workflow_id: 'run', run_id: 'late', activity_id: '1' };
      const batch = store.openBatch();
      const ref = await batch.put('of yesterday');
      await expect(ledger.put(key, 1, 'paid', batch)).rejects.toThrow(/null value in column "ref"/);
      late.mockRestore();
      expect([await store.has(ref), await ledger.find(key)]).toEqual([false, []]);
      await ledger.put(key, 1, 'paid', batch);
      expect(await store.getText(ref)).toBe('of yesterday');
    });
  });
}

function faults(): void {
  it('SQB3: a service that is gone is named while it is gone, and works again', async () => {
    await withStores({}, async ({ store, ledger }) => {
      const ref = await store.put('before');
      await objects.kill();
      const error = {
        type: 'StoreUnavailable',
        message: expect.stringMatching(
          /artifacts at s3:\/\/artifacts\/planwave: no answer came \((?:ECONN\w+|UND_ERR_SOCKET)\)\. Try: .*PLANWAVE_ARTIFACTS_URL.*continues by itself/,
        ),
      };
      await expect(store.getText(ref)).rejects.toMatchObject(error);
      await expect(store.put('x')).rejects.toMatchObject(error);
      const batch = store.openBatch();
      await batch.put('staged');
      const key = { workflow_id: 'run', run_id: 'r', activity_id: '1' };
      await expect(ledger.put(key, 1, 'paid', batch)).rejects.toMatchObject(error);
      // No entry before its artifacts.
      expect(await ledger.find(key)).toEqual([]);
      await objects.restart();
      await ledger.put(key, 1, 'paid', batch);
      expect(await ledger.find(key)).toEqual(['paid']);
      expect(await store.getText(ref)).toBe('before');
    });
  });

  it.each([
    ['s3://no-such-bucket', {}, /there is no such bucket \(NoSuchBucket\)\. Try: create it/],
    [
      '',
      { secretAccessKey: 'wrong' },
      /it refuses the keys \(\w+\)\. Try: check AWS_ACCESS_KEY_ID/,
    ],
  ])('a wrong bucket or key is named: %s %j', async (place, keys, said) => {
    const url = place === '' ? objects.url : objects.url.replace(/^[^?]*/, place);
    await withStores({ artifacts: { ...bucketAt(url), ...keys } }, async (stores) => {
      const error = { type: 'StoreUnavailable', message: expect.stringMatching(said) };
      await expect(stores.open()).rejects.toMatchObject(error);
      await expect(stores.store.put('text')).rejects.toMatchObject(error);
      await expect(stores.store.put('text')).rejects.not.toThrow('planwave-test-secret');
    });
  });
}

function copies(): void {
  it('planwave store copy, doctor and fsck know the bucket', async () => {
    const from = join(folder, 'from');
    const home = openStores({ home: from });
    expect(await home.open()).toBeNull();
    const ref = await home.store.put('copied text');
    await home.index.write('run-1', ref, 0);
    await home.close();
    await executeSql(database, 'CREATE DATABASE target');
    const target = database.replace(/postgres$/, 'target');
    const planwave = async (...args: readonly string[]): Promise<string> => {
      const env = {
        PLANWAVE_HOME: join(folder, 'client'),
        PLANWAVE_STORE_URL: target,
        PLANWAVE_ARTIFACTS_URL: objects.url,
        ...objects.env,
      };
      const command = runScript(args, env);
      await command.ended;
      return command.output();
    };
    expect(await planwave('store', 'copy', from, target)).toMatch(/^Copied 1 artifact, /m);
    const sql = 'SELECT object, size::int FROM planwave_artifacts WHERE ref = $1';
    expect(await executeSql(target, sql, [ref])).toEqual([
      {
        object: expect.stringContaining(`artifacts/planwave/${ref.slice(0, 2)}/${ref}/`),
        size: 11,
      },
    ]);
    const back = join(folder, 'back');
    expect(await planwave('store', 'copy', target, back)).toMatch(/^Copied 1 artifact, /m);
    const copied = openStores({ home: back });
    expect(await copied.store.getText(ref)).toBe('copied text');
    await copied.close();
    expect(await planwave('artifact', ref)).toContain('copied text');
    expect(await planwave('doctor')).toContain('with artifacts in s3://artifacts/planwave');
    await objects.kill();
    expect(await planwave('doctor')).toContain('PLANWAVE_ARTIFACTS_URL');
    await objects.restart();
  });
}
