import { listChanges, listFoundations } from '../../../core/workspace/run-changes.ts';
import type { EndedWork } from '../../../core/workspace/run-changes.ts';

const wave = (...ended: readonly (readonly [string, 'completed' | 'failed'])[]): EndedWork => ({
  outcomes: ended.map(([delegation_id, status]) => ({ delegation_id, status })),
});

const waves = [wave(['a', 'completed'], ['b', 'failed']), wave(['c', 'completed'])];

it('LF1: a delegation builds on the completed ones of earlier waves, then on what it depends on', () => {
  expect(listFoundations('e', waves, ['d', 'b'])).toEqual(['a', 'c', 'd', 'b']);
});

it('LF2: nothing is listed twice, and nothing builds on itself', () => {
  expect(listFoundations('c', [...waves, ...waves], ['a', 'c'])).toEqual(['a']);
});

it('LF3: the changes of a run are those of all completed delegations, in the order of their waves', () => {
  expect(listChanges(waves)).toEqual(['a', 'c']);
});

it('LF4: changes that a decision dropped are no foundation, whichever wave decided it', () => {
  const [first = wave(), second = wave()] = waves;
  expect(listChanges([first, { ...second, dropped: ['a'] }])).toEqual(['c']);
  expect(listFoundations('e', [first, { ...second, dropped: ['a'] }], [])).toEqual(['c']);
});
