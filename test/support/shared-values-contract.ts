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
    expect(await open().shared.list()).toEqual(['budget/acme', 'count']);
  });
}
