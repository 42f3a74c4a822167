import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type StoresOptions, openStores } from '../../activities/adapters/open-stores.ts';
import type { LedgerKey } from '../../activities/ports/reply-ledger.ts';
import type { Stores } from '../../activities/ports/stores.ts';
import { hostileNames } from '../unit/adapters/temporary-home.ts';
import { sharedValues } from './shared-values-contract.ts';
import { expectStored, startWriter } from './store-writers.ts';
import type { StorePlace } from './store-writers.ts';

/** A store that a test may harm. */
export interface StoreUnderTest extends StorePlace {
  damageArtifact(ref: string): Promise<void>;
  /** @param which Records of the key: all, or the newest, of which one letter changes. */
  damageReply(key: LedgerKey, which: 'all' | 'newest'): Promise<void>;
  damageRun(name: string): Promise<void>;
  damageEffect(key: string): Promise<void>;
  remove(): Promise<void>;
}

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
const key = { workflow_id: 'run/wave-001/task', run_id: 'r', activity_id: '1' };
const value = { content: [{ type: 'text', text: 'Grüße 🌍\n\u2028' }], n: 1.5, none: null };
const refOf = (digit: string): string => digit.repeat(64);
const numbered = (n: number): string => n.toString(16).padStart(64, '0');

/**
 * Tests the contract of every store.
 *
 * @param create makes an empty store for each test.
 */
export function itStores(create: () => Promise<StoreUnderTest>): void {
  let at: StoreUnderTest;
  let opened: Stores[] = [];
  beforeEach(async () => {
    at = await create();
  });
  afterEach(async () => {
    await Promise.all(opened.map((stores) => stores.close()));
    opened = [];
    await at.remove();
  });

  /** Opens the store like another process. */
  const open = (options: Partial<StoresOptions> = { cacheMaxBytes: 0 }): Stores => {
    const stores = openStores({
      home: at.home,
      storeUrl: at.storeUrl,
      artifacts: at.artifacts,
      ...options,
    });
    opened.push(stores);
    return stores;
  };

  it('finding T6: has one id for all that open it, and keeps it', async () => {
    const stores = [open(), open(), open()];
    await Promise.all(stores.map((one) => one.open()));
    const [first, ...others] = await Promise.all(stores.map((one) => one.identify()));
    expect(first).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      place: expect.stringContaining(stores[0]?.place ?? 'a place'),
    });
    expect(others).toEqual([first, first]);
    const again = open();
    expect(await again.open()).toBeNull();
    expect(await again.findIdentity()).toEqual(first);
    await again.adopt(['copied-1', 'copied-2']);
    await again.adopt(['copied-2', first?.id ?? 'none']);
    expect(await again.identify()).toEqual({ ...first, copied: ['copied-1', 'copied-2'] });
  });

  describe('artifacts', () => artifacts(() => at, open));
  describe('replies', () => replies(() => at, open));
  describe('runs and effects', () => entries(() => at, open));
  describe('shared values', () => sharedValues(open));
  describe('processes', () => processes(() => at, open));
}

type Open = (options?: Partial<StoresOptions>) => Stores;

function artifacts(at: () => StoreUnderTest, open: Open): void {
  it('FA2, SQA2: gives back what it got, under the SHA-256 of its bytes', async () => {
    const { store } = open();
    const text = '# Grüße 🌍\r\n\0 \ufeff';
    const ref = await store.put(text);
    expect(ref).toBe(sha256(text));
    expect(await store.getText(ref)).toBe(text);
    expect(Buffer.from(await store.get(ref)).toString('utf8')).toBe(text);
    expect(await open().store.getText(ref)).toBe(text);
    expect(await store.has(ref)).toBe(true);
    const bytes = Uint8Array.from([0xff, 0x00, 0xfe]);
    const noText = await store.put(bytes);
    expect([...(await store.get(noText))]).toEqual([...bytes]);
    await expect(store.getText(noText)).rejects.toMatchObject({ type: 'ArtifactCorrupt' });
    expect(await store.getText(await store.put(''))).toBe('');
    expect(await store.getText(await store.put('\ufefftext'))).toBe('\ufefftext');
  });

  it('FA1, SQA1: the same content 50 times at once is whole, and one artifact', async () => {
    const text = 'at once '.repeat(10_000);
    const stores = [open(), open()];
    const puts = stores.flatMap(({ store }) => Array.from({ length: 25 }, () => store.put(text)));
    expect(new Set(await Promise.all(puts))).toEqual(new Set([sha256(text)]));
    const { store, contents } = open();
    expect(await store.getText(sha256(text))).toBe(text);
    const listed: string[] = [];
    for await (const ref of contents.artifacts()) listed.push(ref);
    expect(listed).toEqual([sha256(text)]);
  });

  it('a missing artifact is named', async () => {
    const { store } = open();
    await store.put('something');
    const ref = sha256('never stored');
    expect(await store.has(ref)).toBe(false);
    await expect(store.get(ref)).rejects.toMatchObject({
      type: 'ArtifactMissing',
      message: expect.stringContaining(`The artifact ${ref} is missing in "`),
    });
  });

  it('fault 49, SQA3: a damaged artifact is reported, and mended when stored again', async () => {
    const { store } = open();
    const ref = await store.put('whole and right');
    await at().damageArtifact(ref);
    for (const reader of [store, open().store]) {
      await expect(reader.get(ref)).rejects.toMatchObject({
        type: 'ArtifactDamaged',
        ref,
        message: expect.stringContaining(`The artifact ${ref} is damaged`),
      });
    }
    await store.put('whole and right');
    for (const reader of [store, open().store]) {
      expect(await reader.getText(ref)).toBe('whole and right');
    }
  });

  it('what a caller does to its bytes changes nothing, and what is in memory is not read', async () => {
    const { store } = open({ cacheMaxBytes: 10 });
    const mine = Buffer.from('123456');
    const first = await store.put(mine);
    mine.fill(0);
    const second = await store.put('abcdef');
    const got = await store.get(second);
    got.fill(0);
    for (const ref of [first, second]) await at().damageArtifact(ref);
    expect(await store.getText(second)).toBe('abcdef');
    await expect(store.get(first)).rejects.toMatchObject({ type: 'ArtifactDamaged' });
  });

  it('fault 51: no hostile name is a reference', async () => {
    const { store } = open();
    await store.put('something');
    for (const name of hostileNames) {
      for (const call of [store.get(name), store.getText(name), store.has(name)]) {
        await expect(call).rejects.toMatchObject({ type: 'ArtifactCorrupt' });
      }
    }
  });

  it('keeps 50 MB', async () => {
    const bytes = randomBytes(50_000_000);
    const ref = await open().store.put(bytes);
    expect(ref).toBe(sha256(bytes));
    // Compared by its address when it is read.
    expect((await open().store.get(ref)).byteLength).toBe(50_000_000);
  });
}

function replies(at: () => StoreUnderTest, open: Open): void {
  it('finds what an earlier attempt, or another process, put there', async () => {
    expect(await open().ledger.find(key)).toEqual([]);
    await open().ledger.put(key, 1, value);
    expect(await open().ledger.find(key)).toEqual([value]);
    await open().ledger.put(key, 1, 'newer');
    expect(await open().ledger.find(key)).toEqual(['newer']);
  });

  it('SQR1: artifacts of a batch are stored by the entry that takes them, and read before', async () => {
    const { store, ledger } = open();
    const batch = store.openBatch();
    const ref = await batch.put('staged');
    expect([await batch.has(ref), await batch.getText(ref)]).toEqual([true, 'staged']);
    expect([...batch.staged.keys()]).toEqual([ref]);
    const stored = await store.put('stored');
    expect(await batch.getText(stored)).toBe('stored');
    expect(await store.has(ref)).toBe(false);
    const again = await batch.put('stored');
    await ledger.put(key, 1, { ref, again }, batch);
    const other = open();
    expect(await other.ledger.find(key)).toEqual([{ ref, again }]);
    expect(await other.store.getText(ref)).toBe('staged');
    expect(await other.store.getText(again)).toBe('stored');
  });

  it('keeps what each attempt put apart, and gives it in their order', async () => {
    const { ledger, contents } = open();
    for (const attempt of [10, 2, 1]) await ledger.put(key, attempt, attempt);
    expect(await ledger.find(key)).toEqual([1, 2, 10]);
    await ledger.put(key, 2, 'newer');
    expect(await ledger.find(key)).toEqual([1, 'newer', 10]);
    const listed: unknown[] = [];
    for await (const entry of contents.replies()) listed.push([entry.attempt, entry.value]);
    expect(listed.slice(-2)).toEqual([
      [1, 1],
      [2, 'newer'],
    ]);
  });

  it('keys differ in each of their parts, and parts never run together', async () => {
    const { ledger } = open();
    const keys = [
      key,
      { ...key, workflow_id: 'run' },
      { ...key, run_id: 'r2' },
      { ...key, activity_id: '2' },
      { workflow_id: 'a', run_id: 'b","c', activity_id: 'd' },
      { workflow_id: 'a","b', run_id: 'c', activity_id: 'd' },
    ];
    for (const [n, one] of keys.entries()) await ledger.put(one, 1, n);
    for (const [n, one] of keys.entries()) expect(await ledger.find(one)).toEqual([n]);
  });

  it('lists what every execution of a run and of what is below it has, the newest of each attempt', async () => {
    const { ledger } = open();
    const old = { ...key, run_id: 'before the reset' };
    const root = { ...key, workflow_id: 'run' };
    await ledger.put({ ...key, workflow_id: 'run-2/wave-001' }, 1, 'of another run');
    await ledger.put(old, 1, 'reserved');
    await ledger.put(old, 1, 'told');
    await open().ledger.put(root, 3, 'of the run itself');
    const listed = await ledger.list('run', 0);
    expect(listed).toMatchObject([
      { key: old, attempt: 1, value: 'told' },
      { key: root, attempt: 3, value: 'of the run itself' },
    ]);
    const [twice, single] = listed.map(({ begun_at, written_at }) => written_at - begun_at);
    expect(twice).toBeGreaterThanOrEqual(0);
    expect(single).toBe(0);
    expect(listed.every(({ begun_at }) => begun_at > Date.now() - 600_000)).toBe(true);
    expect(await ledger.list('run/wave-001', 0)).toHaveLength(1);
    expect(await ledger.list('run', Date.now() + 60_000)).toEqual([]);
    await at().damageReply(root, 'all');
    expect(await open().ledger.list('run', 0)).toHaveLength(1);
  });

  it('a copied entry keeps its time, and the newest counts all the same', async () => {
    const { ledger } = open();
    for (const time of [1_000, 3_000]) await ledger.put(key, 1, time, undefined, time);
    expect(await ledger.list('run', 0)).toMatchObject([{ begun_at: 1_000, written_at: 3_000 }]);
    expect(await open().ledger.list('run', 4_000)).toEqual([]);
  });

  it('fault 49, SQR3: a damaged entry counts as missing, the one before counts, and both can be written again', async () => {
    const { ledger } = open();
    await ledger.put(key, 1, value);
    await at().damageReply(key, 'all');
    expect(await open().ledger.find(key)).toEqual([]);
    await ledger.put(key, 2, 'another');
    expect(await open().ledger.find(key)).toEqual(['another']);
    await ledger.put(key, 1, 'reserved');
    await ledger.put(key, 1, value);
    expect(await open().ledger.find(key)).toEqual([value, 'another']);
    await at().damageReply(key, 'newest');
    expect(await ledger.find(key)).toEqual(['reserved', 'another']);
  });

  it('fault 51: hostile ids stay apart', async () => {
    const { ledger } = open();
    for (const name of hostileNames) await ledger.put({ ...key, workflow_id: name }, 1, name);
    for (const name of hostileNames) {
      expect(await ledger.find({ ...key, workflow_id: name })).toEqual([name]);
      expect(await ledger.list(name, 0)).toContainEqual(
        expect.objectContaining({ attempt: 1, value: name }),
      );
    }
  });
}

function entries(at: () => StoreUnderTest, open: Open): void {
  it('point a name at the newest reference, and research apart from runs', async () => {
    const { index, research } = open();
    expect(await index.read('run-1')).toEqual({ ref: null, version: 0 });
    expect(await index.list()).toEqual([]);
    expect(await index.write('run-1', refOf('a'), 0)).toBe(true);
    expect(await index.write('run-1', refOf('b'), 1)).toBe(true);
    expect(await open().index.read('run-1')).toEqual({ ref: refOf('b'), version: 2 });
    expect(await research.list()).toEqual([]);
    expect(await research.write('run-1', refOf('c'), 0)).toBe(true);
    expect([await index.list(), await research.list()]).toEqual([['run-1'], ['run-1']]);
    expect(await index.read('run-1')).toEqual({ ref: refOf('b'), version: 2 });
  });

  it('fault 51, FI2: whatever a name holds, it is its own entry', async () => {
    const { index } = open();
    for (const [n, name] of hostileNames.entries()) await index.write(name, numbered(n), 0);
    for (const [n, name] of hostileNames.entries()) {
      expect((await index.read(name)).ref).toBe(numbered(n));
    }
    expect(await index.list()).toEqual([...hostileNames].toSorted((a, b) => (a < b ? -1 : 1)));
  });

  it('fault 49, FI3: a damaged entry points nowhere, and can be written again', async () => {
    const { index } = open();
    await index.write('run', refOf('a'), 0);
    await index.write('other', refOf('a'), 0);
    await at().damageRun('run');
    expect(await index.read('run')).toEqual({ ref: null, version: 1 });
    expect(await index.list()).toEqual(['other']);
    expect(await index.write('run', refOf('b'), 1)).toBe(true);
    expect(await index.read('run')).toEqual({ ref: refOf('b'), version: 2 });
  });

  it('FI4, FE2, SQE1: of 16 writers after the same version one has its way, also those that come late', async () => {
    const stores = Array.from({ length: 16 }, () => open());
    for (let version = 0; version < 5; version += 1) {
      const written = await Promise.all(
        stores.map(({ index }, n) => index.write('run', numbered(n), version)),
      );
      expect(written.filter(Boolean)).toHaveLength(1);
      const won = numbered(written.indexOf(true));
      expect(await open().index.read('run')).toEqual({ ref: won, version: version + 1 });
      const effect = 'e'.repeat(64);
      const acted = await Promise.all(
        stores.map(({ effects }) => effects.put(effect, { type: 'intended', round: 1 }, version)),
      );
      expect(acted.filter(Boolean)).toHaveLength(1);
    }
    const [{ index }] = [open()];
    const before = await index.read('run');
    for (const after of [4, 2, 0]) expect(await index.write('run', refOf('f'), after)).toBe(false);
    expect(await index.read('run')).toEqual(before);
  });

  it('FI4: readers beside a writer see each time an entry that was written whole', async () => {
    const { index } = open();
    const writes = 100;
    const read = async (): Promise<number[]> => {
      const seen: number[] = [];
      while (seen.at(-1) !== writes) {
        const { ref, version } = await index.read('run');
        expect(ref).toBe(version === 0 ? null : refOf((version % 16).toString(16)));
        seen.push(version);
      }
      return seen;
    };
    const reading = Promise.all([read(), read(), read()]);
    for (let after = 0; after < writes; after += 1) {
      await index.write('run', refOf(((after + 1) % 16).toString(16)), after);
    }
    expect(new Set((await reading).flat()).size).toBeGreaterThan(10);
  });

  it('FE1: an effect is found, and one that is damaged does not count as missing', async () => {
    const { effects, contents } = open();
    const effect = 'a'.repeat(64);
    expect(await effects.find(effect)).toEqual({ state: null, version: 0 });
    const state = { type: 'intended', round: 1 } as const;
    expect(await effects.put(effect, state, 0)).toBe(true);
    expect(await open().effects.find(effect)).toEqual({ state, version: 1 });
    await at().damageEffect(effect);
    expect(await open().effects.find(effect)).toEqual({ state: 'damaged', version: 1 });
    expect(await effects.put(effect, state, 1)).toBe(true);
    expect(await effects.find(effect)).toEqual({ state, version: 2 });
    const listed: string[] = [];
    for await (const one of contents.effects()) listed.push(one);
    expect(listed).toEqual([effect]);
    await expect(effects.find('../../x')).rejects.toThrow('no key of an effect');
  });
}

function processes(at: () => StoreUnderTest, open: Open): void {
  it('SW1: 16 write at once, all that each was told is there, and what they count together is exact', async () => {
    const names = Array.from({ length: 16 }, (_, nth) => `w${nth}`);
    const writers = await Promise.all(names.map((name) => startWriter(at(), name, 15, 'stored')));
    await Promise.all(writers.map(({ closed }) => closed));
    for (const [nth, { acknowledged }] of writers.entries()) {
      expect(acknowledged()).toHaveLength(15);
      await expectStored(open(), names[nth] ?? '', acknowledged());
    }
    expect((await open().shared.read('stored')).value).toBe(16 * 15);
  }, 300_000);

  it('SW1, GS2: what a killed one was told is there, and the next one goes on', async () => {
    for (let round = 0; round < 2; round += 1) {
      const name = `k${round}`;
      const { child, closed, acknowledged } = await startWriter(at(), name);
      while (acknowledged().length < 20 + round * 17) await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await closed;
      expect(acknowledged().length).toBeGreaterThan(19);
      await expectStored(open(), name, acknowledged());
    }
    // Nothing is damaged that it was writing.
    expect(await open().check({ repair: false })).toMatchObject({ faults: [] });
  }, 120_000);
}
