import * as fc from 'fast-check';
import { engineLimits } from '../../../core/limits.ts';
import { countLoadsLeft, noteLoaded } from '../../../core/turns/turns-state.ts';

const detailIds = fc.array(fc.integer({ min: 1, max: 120 }).map(String), { maxLength: 100 });

describe('what a delegation loaded', () => {
  it('LD1: each once, in the order of the first loading, never too many', () => {
    expect(noteLoaded(['b', 'a'], ['a', 'c', 'b'])).toEqual(['b', 'a', 'c']);
    fc.assert(
      fc.property(detailIds, detailIds, (before, more) => {
        const loaded = noteLoaded(noteLoaded([], before), more);
        expect(new Set(loaded).size).toBe(loaded.length);
        expect(loaded.length).toBeLessThanOrEqual(engineLimits.loadedDetailsMax);
      }),
    );
  });

  it('LD2: replies that keep to their shares are all in the list', () => {
    fc.assert(
      fc.property(fc.array(detailIds, { maxLength: 8 }), (replies) => {
        const loaded = new Set<string>();
        let noted: readonly string[] = [];
        for (const calls of replies) {
          const done = calls.slice(0, countLoadsLeft(noted));
          for (const id of done) loaded.add(id);
          noted = noteLoaded(noted, done);
        }
        expect(noted).toEqual([...loaded]);
      }),
    );
  });

  it('LD2: conversations that work at the same time never fill the list, in whatever order they end', () => {
    const steps = fc.array(fc.nat({ max: 3 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 2, max: 4 }), (order, atOnce) => {
        const shares = new Map<number, number>();
        let noted: readonly string[] = [];
        let next = 0;
        for (const one of order.filter((member) => member < atOnce)) {
          const share = shares.get(one) ?? 0;
          noted = noteLoaded(
            noted,
            Array.from({ length: share }, () => `${(next += 1)}`),
          );
          expect(noted).toHaveLength(next);
          shares.set(one, countLoadsLeft(noted, atOnce));
        }
      }),
    );
  });
});
