import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashBytes } from '../../../activities/text/bytes.ts';
import { copyStores } from '../../../activities/adapters/copy-stores.ts';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import type { Stores } from '../../../activities/ports/stores.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { damageRecord } from '../../support/stored-records.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
let opened: Stores[];
beforeEach(async () => {
  at = await createTemporaryHome();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
  await at.remove();
});

const open = (name: string): Stores => {
  const stores = openStores({ home: join(at.outside, name), cacheMaxBytes: 0 });
  opened.push(stores);
  return stores;
};

const key = { workflow_id: 'run/wave-001', run_id: 'r', activity_id: '1' };
const effect = 'e'.repeat(64);
const state = { type: 'intended', round: 1 } as const;

/** Fills a store with something of each kind. @returns the record of the run, and another artifact. */
async function fill(stores: Stores): Promise<readonly [record: string, other: string]> {
  const refs = [await stores.store.put('the record'), await stores.store.put('other')] as const;
  await stores.ledger.put(key, 1, 'reserved');
  await stores.ledger.put(key, 1, 'paid');
  await stores.ledger.put(key, 2, 'paid again');
  await stores.effects.put(effect, state, 0);
  await stores.index.write('run', refs[0], 0);
  await stores.research.write('a technology', refs[1], 0);
  await stores.shared.replace('budget/acme', { limit: 1 }, 0);
  await stores.threads.append(entry({ thread_id: 't', delegations: [kept('task')] }));
  return refs;
}

const kind = (copied: number, present: number) => ({ copied, present });

it('CPS1, CPS2: copies what counts, and the second time nothing', async () => {
  const [from, to] = [open('from'), open('to')];
  const [record, other] = await fill(from);
  expect(await copyStores(from, to)).toEqual({
    artifacts: kind(2, 0),
    replies: kind(2, 0),
    effects: kind(1, 0),
    names: kind(2, 0),
    threads: kind(1, 0),
    shared: kind(1, 0),
    faults: [],
  });
  // The process ended in between.
  await damageRecord(join(at.outside, 'to'), other);
  const there = open('to');
  expect(await copyStores(open('from'), there)).toEqual({
    artifacts: kind(1, 1),
    replies: kind(0, 2),
    effects: kind(0, 1),
    names: kind(0, 2),
    threads: kind(0, 1),
    shared: kind(0, 1),
    faults: [],
  });
  expect(await there.store.getText(record)).toBe('the record');
  expect(await there.store.getText(other)).toBe('other');
  expect(await there.ledger.find(key)).toEqual(['paid', 'paid again']);
  expect(await there.effects.find(effect)).toEqual({ state, version: 1 });
  expect((await there.index.read('run')).ref).toBe(record);
  expect((await there.research.read('a technology')).ref).toBe(other);
  expect(await there.threads.read('t', 5)).toEqual(await from.threads.read('t', 5));
});

it('CPS5: the other store is right for runs of the first, and of those that were copied into that', async () => {
  const [first, second, third] = [open('first'), open('second'), open('third')];
  for (const stores of [first, second, third]) expect(await stores.open()).toBeNull();
  await fill(first);
  await copyStores(first, second);
  await copyStores(second, third);
  const { id } = await first.identify();
  const between = await second.identify();
  expect(between.copied).toEqual([id]);
  expect((await third.identify()).copied).toEqual([between.id, id]);
});

it('CPS3, CPS4: names what is damaged or differs, and leaves it', async () => {
  const [from, to] = [open('from'), open('to')];
  const [record] = await fill(from);
  await damageRecord(join(at.outside, 'from'), record);
  await to.effects.put(effect, { type: 'failed', reason: 'of its own' }, 0);
  const own = await to.store.put('of its own');
  await to.research.write('a technology', own, 0);
  const { faults, names } = await copyStores(open('from'), to);
  expect(faults).toMatchObject([
    { where: `the artifact ${record}`, what: expect.stringContaining('is damaged') },
    { where: `the entry ${effect} of the effect ledger`, cure: expect.stringContaining('empty') },
    { where: 'the research "a technology"', what: 'the other store has another record' },
    { where: 'the run "run"', what: 'its record could not be copied' },
  ]);
  expect(names).toEqual(kind(0, 0));
  expect(await to.index.list()).toEqual([]);
  expect((await to.research.read('a technology')).ref).toBe(own);
});

it('CPS3: a shared value that differs there, or is damaged here, is a fault', async () => {
  const [from, to] = [open('from'), open('to')];
  await fill(from);
  await to.shared.replace('budget/acme', { limit: 2 }, 0);
  await from.shared.replace('pace/key', { until: 1 }, 0);
  const place = join(at.outside, 'from', 'shared', hashBytes('pace/key'));
  await writeFile(join(place, '1.json'), 'damaged');
  const { shared, faults } = await copyStores(from, to);
  expect(shared).toEqual(kind(0, 0));
  expect(faults).toMatchObject([
    { where: `the shared value at ${place}`, what: 'it is damaged' },
    { where: 'the shared value budget/acme', what: 'the other store has another value' },
  ]);
  expect((await to.shared.read('budget/acme')).value).toEqual({ limit: 2 });
  const checked = await from.check({ repair: true });
  expect(checked.faults.find(({ where }) => where === place)).toMatchObject({
    cure: expect.stringMatching(/budget .* set again, and a wait/),
  });
  await expect(from.shared.read('pace/key')).rejects.toThrow(
    /is damaged\. Try: restore it from a backup, or remove it: .* a wait that a model API asked for/,
  );
});

it('CPS3: an entry of a thread replaces none of another run with the same id', async () => {
  const [from, to] = [open('from'), open('to')];
  const ofTo = entry({ thread_id: 'anna/shop', run_id: 'my-team' });
  await to.threads.append(ofTo);
  await from.threads.append(entry({ thread_id: 'ben/shop', run_id: 'my-team', at: 2_000 }));
  const { threads, faults } = await copyStores(from, to);
  expect(threads).toEqual(kind(0, 0));
  expect(faults).toMatchObject([
    {
      where: 'the thread "ben/shop"',
      what: 'the other store has another entry of the run "my-team"',
      cure: expect.stringContaining('empty store'),
    },
  ]);
  expect((await to.threads.read('anna/shop', 5)).entries).toEqual([ofTo]);
});
