import {
  checkReopened,
  describeTaskConflicts,
  conflictOfMerge,
  listDropped,
} from '../../../core/workspace/run-changes.ts';
import type { MergeConflict } from '../../../contracts/effect.ts';

const merge: MergeConflict = { delegation_id: 'three', with: ['one', 'two'], files: ['a.js'] };
const resolve = (origin: string, conflict = 'conflict:merge/three') => [{ conflict, origin }];

const reopen = (...ids: string[]) => ({
  criteria_reopened: ids.map((criterion_id) => ({ criterion_id, reason: 'Dropped.' })),
});

it('MG1: each delegation is a side, and those before it have one value', () => {
  const { conflict_id, sides } = conflictOfMerge(merge);
  expect(conflict_id).toBe('conflict:merge/three');
  expect(sides.map(({ source }) => source)).toEqual(['one', 'two', 'three']);
  expect(sides[0]?.value).toBe(sides[1]?.value);
  expect(sides[2]?.value).not.toBe(sides[0]?.value);
});

it('MG2: the sides that give way are dropped, and nothing without a resolution', () => {
  expect(listDropped([merge], resolve('one'))).toEqual(['three']);
  expect(listDropped([merge], resolve('three'))).toEqual(['one', 'two']);
  expect(listDropped([merge], resolve('other'))).toEqual([]);
  expect(listDropped([merge], resolve('one', 'conflict:price'))).toEqual([]);
  expect(listDropped([merge], [])).toEqual([]);
});

it('MG3: what only dropped work met is reopened', () => {
  const results = [
    { delegation_id: 'one', criterion_ids: ['c1', 'c2'] },
    { delegation_id: 'three', criterion_ids: ['c2', 'c3'] },
  ];
  expect(checkReopened(['three'], results, reopen('c3'))).toEqual([]);
  expect(checkReopened([], results, reopen())).toEqual([]);
  expect(checkReopened(['three'], results, reopen())).toMatchObject([
    { path: 'criteria_reopened', reason: expect.stringMatching(/three.*"c3"/) },
  ]);
});

it('MG4: each new task that is a side of a conflict in its team hears of it, by name and files', () => {
  const all = ['d1', 'd2', 'd3'].map((name) => ({ name, delegation_id: `pair.${name}` }));
  const conflicts = [{ delegation_id: 'pair.d3', with: ['pair.d1.x'], files: ['a.txt'] }];
  const told = describeTaskConflicts(conflicts, all.slice(1), all);
  expect([...told.keys()]).toEqual(['pair.d3']);
  expect(told.get('pair.d3')).toMatch(
    /"d3" are left out, because "d1" .* lines of "a\.txt"\. Try: /,
  );
  expect([...describeTaskConflicts(conflicts, all, all).keys()]).toEqual(['pair.d3', 'pair.d1']);
  expect(describeTaskConflicts(conflicts, [], all).size).toBe(0);
});
