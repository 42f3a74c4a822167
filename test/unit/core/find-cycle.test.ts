import * as fc from 'fast-check';
import { findCycle, findCycles } from '../../../core/schedule/dependencies.ts';
import { property } from './builders.ts';

const anyEdges = fc
  .array(fc.tuple(fc.nat(6), fc.array(fc.nat(7), { maxLength: 4 })), { maxLength: 7 })
  .map((rows) => new Map(rows.map(([from, to]) => [`d${from}`, to.map((id) => `d${id}`)])));

/** By brute force: is there a way from `from` back to itself? */
function reachesItself(from: string, edges: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const queue = [...(edges.get(from) ?? [])];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (id === from) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    queue.push(...(edges.get(id) ?? []));
  }
  return false;
}

describe('findCycle', () => {
  it('FC1: what is returned is a cycle', () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const cycle = findCycle(edges) ?? ['none', 'none'];
        expect(cycle.length).toBeGreaterThanOrEqual(2);
        expect(cycle.at(-1)).toBe(cycle[0]);
        for (const [i, name] of cycle.slice(1).entries()) {
          const before = cycle[i] ?? '';
          expect(before === 'none' ? ['none'] : edges.get(before)).toContain(name);
        }
      }),
      property,
    );
  });

  it('FC2: null means that there is none', () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const isCyclic = [...edges.keys()].some((id) => reachesItself(id, edges));
        expect(findCycle(edges) !== null).toBe(isCyclic);
      }),
      property,
    );
  });

  it('FC3: cycles that share no name are all listed', () => {
    const edges = new Map(
      ['ab', 'ba', 'cd', 'dc', 'ec', 'fa', 'gh'].map(([from = '', to = '']) => [from, [to]]),
    );
    expect(findCycles(edges)).toEqual([
      ['a', 'b', 'a'],
      ['c', 'd', 'c'],
    ]);
  });

  it('a chain of thousands does not overflow the stack', () => {
    const chain = new Map(Array.from({ length: 50_000 }, (_, i) => [`d${i}`, [`d${i + 1}`]]));
    expect(findCycle(chain)).toBeNull();
  });
});
