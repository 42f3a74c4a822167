import * as fc from 'fast-check';
import { engineLimits } from '../../../core/limits.ts';
import { countLoadsLeft, noteLoaded } from '../../../core/turns/note-loaded.ts';

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

  it('LD2: calls that keep to what they were left are all in the list, however many a turn makes', () => {
    fc.assert(
      fc.property(fc.array(detailIds, { maxLength: 8 }), (turns) => {
        const loaded = new Set<string>();
        let noted: readonly string[] = [];
        for (const calls of turns) {
          const left = countLoadsLeft(noted, calls.length);
          const done = calls.filter((_, at) => (left[at] ?? 0) > 0);
          for (const id of done) loaded.add(id);
          noted = noteLoaded(noted, done);
        }
        expect(noted).toEqual([...loaded]);
      }),
    );
  });

  it('LD2: what others load at the same time is left to them', () => {
    const max = engineLimits.loadedDetailsMax;
    expect(countLoadsLeft([], 2, max - 1)).toEqual([1, 0]);
  });
});
