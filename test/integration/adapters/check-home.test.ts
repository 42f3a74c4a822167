import { appendFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkHome } from '../../../activities/adapters/file-store/check-home.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import {
  createFileEffectLedger,
  createFileReplyLedger,
} from '../../../activities/adapters/file-store/file-ledgers.ts';
import { listSegments } from '../../../activities/adapters/file-store/segment-files.ts';
import { readTree } from '../../support/read-tree.ts';
import { damageRecord, overwrite, storedRecords } from '../../support/stored-records.ts';
import { createHarness } from '../../unit/record/harness.ts';
import type { Harness } from '../../unit/record/harness.ts';
import { wholeRun, wholeRunInput } from '../../unit/record/whole-run.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);
});

const check = (repair = false): ReturnType<typeof checkHome> =>
  checkHome({
    home: harness.home,
    store: createFileArtifactStore({ home: harness.home }),
    repair,
  });

const newestRef = async (): Promise<string> => (await harness.deps.index.read('my-run')).ref ?? '';

/** Leaves a torn record behind a segment that was written long ago. */
async function tearTail(): Promise<string> {
  const [{ path } = { path: '' }] = (await listSegments(harness.home)) ?? [];
  await appendFile(path, 'pwr1 and half of a header');
  await utimes(path, 1_000, 1_000);
  return path;
}

it('finds nothing wrong with a home as it was written', async () => {
  await createFileReplyLedger(harness).put(
    { workflow_id: 'w', run_id: 'r', activity_id: '1' },
    1,
    'paid',
  );
  await createFileEffectLedger(harness).put('a'.repeat(64), { type: 'intended', round: 1 }, 0);
  const records = await storedRecords(harness.home);
  const before = await readTree(harness.home);
  expect(await check(true)).toMatchObject({
    runs: 1,
    records: records.length + 1,
    faults: [],
    repaired: [],
  });
  expect(await readTree(harness.home)).toEqual(before);
});

it('HC1, HC2: a damaged artifact is named with file, place, and the run that needs it', async () => {
  const ref = await newestRef();
  const { path } = await damageRecord(harness.home, ref);
  const found = (await storedRecords(harness.home)).find(({ key }) => key === ref);
  const { faults } = await check();
  expect(faults).toEqual([
    {
      where: path,
      what: `the record at byte ${found?.offset} is damaged: the artifact ${ref} is lost`,
      cure: expect.stringContaining('from a backup'),
    },
    {
      where: 'the run "my-run"',
      what: `the artifact ${ref} is missing or damaged; the index names it`,
      cure: expect.stringContaining('from a backup'),
    },
  ]);
});

it('HC2: every artifact that the record leads to is looked for', async () => {
  const all = (await storedRecords(harness.home)).map(({ key }) => key);
  const named: string[] = [];
  for (const ref of all) {
    const damage = await damageRecord(harness.home, ref, 'lost');
    // Behind the last record there is nothing: it could be one that was never finished.
    await utimes(damage.path, 1_000, 1_000);
    const { faults } = await check();
    expect(faults[0]).toMatchObject({
      where: damage.path,
      what: expect.stringMatching(/the records in them are lost|are no whole record/),
    });
    if (faults.some(({ where }) => where === 'the run "my-run"')) named.push(ref);
    await damage.mend();
  }
  const record = await harness.record(await newestRef());
  expect(named).toContain(record.registry_ref);
  for (const { output_ref } of record.details) expect(named).toContain(output_ref);
  expect(await check()).toMatchObject({ faults: [] });
});

it('HC1: a damaged entry of the reply ledger says what it costs', async () => {
  const key = { workflow_id: 'w', run_id: 'r', activity_id: '1' };
  await createFileReplyLedger(harness).put(key, 3, 'paid');
  const entry = (await storedRecords(harness.home)).find(({ attempt }) => attempt === 3);
  await damageRecord(harness.home, entry?.key ?? '');
  expect((await check(true)).faults).toEqual([
    expect.objectContaining({
      what: expect.stringMatching(/attempt 3\), and a repeat .* pay again/),
    }),
  ]);
});

it('damaged entries of the index and of the effect ledger are named', async () => {
  await writeFile(join(harness.home, 'refs', 'n-my-run', '99.json'), 'torn');
  const key = 'ab'.repeat(32);
  await createFileEffectLedger(harness).put(key, { type: 'intended', round: 1 }, 0);
  const effect = join(harness.home, 'effects', key.slice(0, 2), key.slice(2));
  await writeFile(join(effect, '1.json'), 'torn');
  const { faults } = await check();
  expect(faults.map(({ where }) => where)).toEqual([
    effect,
    join(harness.home, 'refs', 'n-my-run'),
  ]);
});

describe('HC3: a repair', () => {
  it('removes a torn tail, and nothing else', async () => {
    const path = await tearTail();
    const before = await storedRecords(harness.home);
    const torn = {
      where: path,
      what: expect.stringContaining('the last 25 bytes are no whole record'),
    };
    expect((await check()).faults).toMatchObject([torn]);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [torn] });
    const keysOf = (records: typeof before): string[] => records.map(({ key }) => key).toSorted();
    expect(keysOf(await storedRecords(harness.home))).toEqual(keysOf(before));
    expect(await check()).toMatchObject({ faults: [], repaired: [] });
    // Its process is at work, and looks for its segment after each flush.
    const ref = await harness.deps.store.put('goes on');
    expect(await createFileArtifactStore(harness).getText(ref)).toBe('goes on');
  });

  it('leaves what a process may be writing right now', async () => {
    const path = await tearTail();
    await utimes(path, new Date(), new Date());
    const before = await readTree(harness.home);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [] });
    expect(await readTree(harness.home)).toEqual(before);
  });

  it('removes a damaged copy of what is whole elsewhere', async () => {
    const ref = await newestRef();
    await damageRecord(harness.home, ref);
    const store = createFileArtifactStore(harness);
    await store.put(JSON.stringify(await copyOf(ref)));
    expect((await check()).faults).toMatchObject([
      { what: expect.stringContaining('of which a whole one is stored') },
    ]);
    expect(await check(true)).toMatchObject({ faults: [], repaired: [{}] });
    expect(await check()).toMatchObject({ faults: [] });
  });

  it('GW3: keeps a segment with damaged bytes between its records', async () => {
    const [record] = await storedRecords(harness.home);
    await overwrite(record?.path ?? '', 0, Buffer.alloc(60));
    await tearTail();
    const { faults, repaired } = await check(true);
    expect(faults[0]?.what).toContain('the records in them are lost');
    expect(repaired).toHaveLength(1);
    const files = Object.keys(await readTree(join(harness.home, 'segments')));
    expect(files.filter((name) => name.endsWith('.damaged'))).toHaveLength(1);
  });
});

/** The revision, from the memory of the process that wrote it. */
async function copyOf(ref: string): Promise<unknown> {
  return JSON.parse(await harness.deps.store.getText(ref));
}
