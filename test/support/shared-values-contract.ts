import { changeShared } from '../../activities/load/change-shared.ts';
import type { Stores } from '../../activities/ports/stores.ts';

/** Tests the contract of the values that workers change together. */
export function sharedValues(open: () => Stores): void {
  it('of writers after one version one wins, and no change is lost', async () => {
    const all = [open(), open(), open(), open()].map(({ shared }) => shared);
    const [first] = all;
    if (first === undefined) throw new Error('There is no store.');
    expect(await first.read('budget/acme')).toEqual({ value: undefined, version: 0 });
    const won = await Promise.all(all.map((one, nth) => one.replace('budget/acme', { nth }, 0)));
    expect(won.filter(Boolean)).toEqual([true]);
    expect(await first.read('budget/acme')).toEqual({
      value: { nth: won.indexOf(true) },
      version: 1,
    });
    const adds = Array.from({ length: 20 }, (_, nth) =>
      changeShared(all[nth % 4] ?? first, 'count', (value) => {
        const next = Number(value ?? 0) + 1;
        return { next, result: next };
      }),
    );
    const counts = await Promise.all(adds);
    expect(counts.toSorted((a, b) => a - b)).toEqual(adds.map((_, nth) => nth + 1));
    const listed = await open().shared.list();
    expect(listed.map(({ name }) => name)).toEqual(['budget/acme', 'count']);
  });

  it('HP7: a prune leaves budgets and removes what nobody needs any more', async () => {
    const stores = open();
    const { shared } = stores;
    await shared.replace('budget/acme', { limit: 1 }, 0);
    await shared.replace('budget/gone', { limit: 1 }, 0);
    await shared.replace('budget/gone', null, 1);
    await shared.replace('pace/key', { until: 1 }, 0);
    // Clocks may differ by an hour.
    const endedBefore = Math.floor(Date.now() / 1_000) + 2 * 3_600;
    expect(await stores.prune({ endedBefore: 1, dryRun: false })).toMatchObject({ records: 0 });
    expect(await stores.prune({ endedBefore, dryRun: true })).toMatchObject({ records: 2 });
    expect(await stores.prune({ endedBefore, dryRun: false })).toMatchObject({ records: 2 });
    expect((await shared.list()).map(({ name }) => name)).toEqual(['budget/acme']);
    // What was removed begins anew.
    expect(await shared.read('pace/key')).toEqual({ value: undefined, version: 0 });
    expect(await shared.replace('pace/key', { until: 2 }, 0)).toBe(true);
    expect(await open().check({ repair: false })).toMatchObject({ records: 2, faults: [] });
  });
}
