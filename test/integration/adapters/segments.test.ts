import {
  appendFile,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import {
  readWholeSegment,
  rewriteSegment,
} from '../../../activities/adapters/file-store/rewrite-segment.ts';
import {
  listSegments,
  SegmentIndex,
} from '../../../activities/adapters/file-store/segment-files.ts';
import { openSegments, type Segments } from '../../../activities/adapters/file-store/segments.ts';
import { segmentBytesMax } from '../../../activities/adapters/file-store/segment-writer.ts';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { hashBytes } from '../../../activities/text/bytes.ts';
import { expectStored, startWriter } from '../../support/store-writers.ts';
import { overwrite, storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome } from '../../unit/adapters/temporary-home.ts';
import type { TemporaryHome } from '../../unit/adapters/temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const key = (nth: number) => ({ workflow_id: 'w', run_id: 'r', activity_id: String(nth) });

const createStore = () => createFileArtifactStore({ home: at.home, cacheMaxBytes: 0 });

async function onlySegment() {
  const [file, ...others] = (await listSegments(at.home)) ?? [];
  if (file === undefined || others.length > 0) throw new Error('Expected one segment.');
  return file;
}

/** Segments that a repair moves whenever they have just been looked at. */
function whileMoved(): Segments {
  const segments = openSegments({ home: at.home, cacheMaxBytes: 0 });
  return {
    ...segments,
    refresh: async () => {
      const isThere = await segments.refresh();
      for (const file of (await listSegments(at.home)) ?? []) {
        await rewriteSegment(at.home, file, { isKept: () => true });
      }
      return isThere;
    },
  };
}

describe('several processes', () => {
  it('GS1: each sees what another has stored since, and a batch with its entry', async () => {
    const [one, other] = [openSegments({ home: at.home }), openSegments({ home: at.home })];
    const stores = [one, other].map((segments) => createFileArtifactStore({ segments }));
    for (let round = 0; round < 3; round += 1) {
      for (const [nth, store] of stores.entries()) {
        const ref = await store.put(`round ${round} of ${nth}`);
        expect(await stores[1 - nth]?.getText(ref)).toBe(`round ${round} of ${nth}`);
      }
    }
    const batch = stores[0]?.openBatch();
    const ref = (await batch?.put('with its entry')) ?? '';
    await createFileReplyLedger({ segments: one }).put(key(1), 1, { ref }, batch);
    expect(await createFileReplyLedger({ segments: other }).find(key(1))).toEqual([{ ref }]);
    expect(await stores[1]?.getText(ref)).toBe('with its entry');
  });

  it('SW1, GW1: their segments are replaced while they write or are stopped, and nothing that they were told is lost', async () => {
    // Enough that several segments are replaced before the last one is written, however fast the disk is.
    const count = 120;
    const writers = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => ({ name, ...(await startWriter(at, name, count)) })),
    );
    const isOpen = (): boolean => writers.some(({ child }) => child.exitCode === null);
    let replaced = 0;
    while (isOpen()) {
      for (const file of (await listSegments(at.home)) ?? []) {
        const before = await readWholeSegment(file);
        const isLong = (before?.places.length ?? 0) > 3 && replaced < 40;
        if (!isLong) continue;
        // Stopped wherever it is, and continued when its segment is gone.
        const stopped = writers[replaced % writers.length]?.child;
        stopped?.kill('SIGSTOP');
        await rewriteSegment(at.home, file, { isKept: () => true });
        stopped?.kill('SIGCONT');
        replaced += 1;
      }
      await sleep(5);
    }
    expect(replaced).toBeGreaterThan(3);
    for (const { name, closed, acknowledged } of writers) {
      await closed;
      expect(acknowledged()).toHaveLength(count);
      await expectStored(openStores({ home: at.home }), name, acknowledged());
    }
  });
});

describe('a segment', () => {
  it('GR1, GS2: torn at every byte of its last record, the others stay and nothing is damaged', async () => {
    const store = createStore();
    const refs = [await store.put('first'), await store.put('second'), await store.put('last one')];
    const { path } = await onlySegment();
    const whole = await readFile(path);
    const begin = whole.length - 'last one'.length - 60;
    for (let size = begin; size < whole.length; size += 1) {
      await writeFile(path, whole.subarray(0, size));
      const reader = createStore();
      expect(await Promise.all(refs.map((ref) => reader.has(ref)))).toEqual([true, true, false]);
      expect(await readWholeSegment({ ...(await onlySegment()) })).toMatchObject({
        end: begin,
        gaps: [],
      });
    }
    // A process that writes on does so elsewhere.
    const writer = createStore();
    await writer.put('last one');
    for (const ref of refs) expect(await createStore().has(ref)).toBe(true);
  });

  it('GR2: a flipped bit anywhere is found, and costs one record', async () => {
    const store = createStore();
    const texts = ['first', 'second', 'last one'];
    const refs: string[] = [];
    for (const text of texts) refs.push(await store.put(text));
    const { path } = await onlySegment();
    const whole = await readFile(path);
    for (let byte = 0; byte < whole.length; byte += 1) {
      const flipped = Uint8Array.of((whole[byte] ?? 0) ^ (1 << (byte % 8)));
      const mend = await overwrite(path, byte, flipped);
      const reader = createStore();
      const read = await Promise.all(refs.map((ref) => reader.getText(ref).catch(() => null)));
      expect(read.filter((text, nth) => text === texts[nth])).toHaveLength(2);
      expect(read.filter((text) => text === null)).toHaveLength(1);
      await mend();
    }
  });

  it('GR2: a copy of a record inside a text is no record', async () => {
    const store = createStore();
    const inner = await store.put('the inner text');
    const { path } = await onlySegment();
    const copy = await readFile(path);
    await rm(path);
    const outer = await createStore().put(Buffer.concat([Buffer.from('text '), copy]));
    const [record] = await storedRecords(at.home);
    await overwrite(record?.path ?? '', 4, Buffer.from([1]));
    expect(await createStore().has(outer)).toBe(false);
    expect(await createStore().has(inner)).toBe(false);
  });

  it('SW1: taken away while its process writes, its records go into another one', async () => {
    const store = createStore();
    const refs = [await store.put('first')];
    const { path } = await onlySegment();
    await rename(path, path.replace('.seg', '.aside'));
    refs.push(await store.put('second'));
    expect(await listSegments(at.home)).toHaveLength(2);
    const texts = await Promise.all(refs.map((ref) => createStore().getText(ref)));
    expect(texts).toEqual(['first', 'second']);
    await rm(path.replace('.seg', '.aside'));
    expect(await createStore().getText(refs[1] ?? '')).toBe('second');
  });

  it('a file that shrank, or has other bytes than were read, is read again', async () => {
    const reader = createStore();
    const [first, second] = [await createStore().put('first'), await createStore().put('second')];
    expect([await reader.has(first), await reader.has(second)]).toEqual([true, true]);
    const [newest, oldest] = (await listSegments(at.home)) ?? [];
    // As when a backup is restored.
    const bytes = await readFile(newest?.path ?? '');
    await writeFile(newest?.path ?? '', Buffer.alloc(0));
    await expect(reader.get(second)).rejects.toMatchObject({ type: 'ArtifactMissing' });
    await writeFile(newest?.path ?? '', bytes);
    expect(await reader.getText(second)).toBe('second');
    await appendFile(oldest?.path ?? '', 'torn');
    expect(await reader.getText(first)).toBe('first');
  });

  it('GS1: a full one that was read while its last records were written is read to its end', async () => {
    const bodies = [Buffer.alloc(segmentBytesMax), Buffer.from('the last')];
    await openSegments({ home: at.home }).append(
      bodies.map((body) => ({ key: hashBytes(body), attempt: 0, body })),
    );
    const { path } = await onlySegment();
    const whole = await readFile(path);
    const reader = createStore();
    await truncate(path, whole.length - 10);
    expect(await reader.has(hashBytes(bodies[0] ?? ''))).toBe(true);
    await appendFile(path, whole.subarray(-10));
    expect(await reader.has(hashBytes(bodies[1] ?? ''))).toBe(true);
  });

  it('GS4: a record that is moved after it was looked up is found', async () => {
    const writer = openSegments({ home: at.home, cacheMaxBytes: 0 });
    const ref = await createFileArtifactStore({ segments: writer }).put('moved');
    await createFileReplyLedger({ segments: writer }).put(key(1), 1, 'paid');
    for (const ask of [
      (segments: Segments) => createFileReplyLedger({ segments }).find(key(1)),
      async (segments: Segments) => {
        const [entry] = await createFileReplyLedger({ segments }).list('w', 0);
        return [entry?.value];
      },
    ]) {
      expect(await ask(whileMoved())).toEqual(['paid']);
    }
    const reader = createFileArtifactStore({ segments: whileMoved() });
    expect(await reader.has(ref)).toBe(true);
    const { path } = await onlySegment();
    await rename(path, path.replace('.seg', '.aside'));
    expect(await reader.getText(ref)).toBe('moved');
  });

  it('is for its user alone', async () => {
    await createStore().put('private');
    expect(await modeOf((await onlySegment()).path)).toBe('600');
    expect(await modeOf(join(at.home, 'segments'))).toBe('700');
  });
});

/** Counts the calls of these methods of every open file while `work` runs. */
async function countCalls(
  methods: readonly ('write' | 'writeFile' | 'datasync' | 'sync')[],
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const handle = await open(join(at.outside, 'probe'), 'w');
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const counts: Record<string, number> = {};
  const real = new Map(methods.map((name) => [name, Reflect.get(prototype, name)]));
  for (const [name, method] of real) {
    Reflect.set(prototype, name, function counted(this: FileHandle, ...args: unknown[]) {
      counts[name] = (counts[name] ?? 0) + 1;
      return Reflect.apply(method, this, args);
    });
  }
  try {
    await work();
  } finally {
    for (const [name, method] of real) Reflect.set(prototype, name, method);
  }
  return counts;
}

describe('group commit', () => {
  const methods = ['write', 'writeFile', 'datasync', 'sync'] as const;

  it('SW2: node and entry of a turn are one write and one flush', async () => {
    const segments = openSegments({ home: at.home });
    const store = createFileArtifactStore({ segments });
    const ledger = createFileReplyLedger({ segments });
    // The first one creates the segment.
    await ledger.put(key(0), 1, 'reserved');
    const counts = await countCalls(methods, async () => {
      const batch = store.openBatch();
      const [node, output] = [await batch.put('the node'), await batch.put('the output')];
      await ledger.put(key(1), 1, { node, output }, batch);
    });
    expect(counts).toEqual({ write: 1, datasync: 1 });
  });

  it('SW2: what arrives during a flush shares the next one', async () => {
    const store = createStore();
    await store.put('first');
    const texts = Array.from({ length: 100 }, (_, nth) => `text ${nth}`);
    const counts = await countCalls(methods, () =>
      Promise.all(texts.map((text) => store.put(text))),
    );
    expect(counts).toEqual({ write: 2, datasync: 2 });
    expect(await storedRecords(at.home)).toHaveLength(101);
  });
});

const placeOf = (nth: number) => ({
  key: hashBytes(String(nth)),
  offset: nth * 100 + 60,
  length: 40,
  attempt: nth % 3,
  time: 1_700_000_000_000 + nth,
});

describe('the index of a segment', () => {
  it('takes 54 bytes a record, and finds all of them', () => {
    const count = 30_000;
    const index = new SegmentIndex();
    for (let nth = 0; nth < count; nth += 1) index.add([placeOf(nth)]);
    expect(index.encode(1).byteLength).toBe(count * 54 + 40);
    for (let nth = 0; nth < count; nth += 101) {
      expect(index.find(placeOf(nth).key)).toEqual([placeOf(nth)]);
    }
    expect(index.find(hashBytes('unknown'))).toEqual([]);
  });

  it('gives all records of a key, sorted and recent ones', () => {
    const index = new SegmentIndex();
    const twins = [placeOf(1), { ...placeOf(1), offset: 999, attempt: 2 }];
    index.add([...twins, placeOf(2)]);
    expect(index.find(placeOf(1).key)).toEqual(twins);
    const read = SegmentIndex.decode(Buffer.from(index.encode(7)));
    expect(read?.end).toBe(7);
    read?.index.add([placeOf(3), { ...placeOf(1), offset: 1_000 }]);
    expect(read?.index.find(placeOf(1).key).map(({ offset }) => offset)).toEqual([160, 999, 1_000]);
  });

  it('is saved for a long segment, and a damaged one is not used', async () => {
    const store = createStore();
    const refs = [await store.put('x'.repeat(1_100_000)), await store.put('short')];
    expect(await createStore().getText(refs[1] ?? '')).toBe('short');
    const { path } = await onlySegment();
    const saved = path.replace('.seg', '.idx');
    const bytes = await readFile(saved);
    expect(bytes.length).toBe(2 * 54 + 40);
    // Found by it alone.
    const mend = await overwrite(path, 0, Buffer.alloc(4));
    expect(await createStore().has(refs[0] ?? '')).toBe(true);
    await mend();
    for (const damaged of [bytes.subarray(0, 50), Buffer.alloc(200), Buffer.alloc(0)]) {
      await writeFile(saved, damaged);
      expect(await createStore().getText(refs[1] ?? '')).toBe('short');
    }
  });
});
