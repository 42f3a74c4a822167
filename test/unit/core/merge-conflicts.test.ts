import {
  checkReopened,
  describeChanges,
  describeTaskConflicts,
  conflictOfMerge,
  cutConflicts,
  listDropped,
  listChanges,
  listFoundations,
  listReadable,
  listUpstream,
  changesQuestion,
} from '../../../core/workspace/run-changes.ts';
import { listLeftChanges } from '../../../core/workspace/left-changes.ts';
import type { MergeConflict, ProposedChanges } from '../../../contracts/effect.ts';
import type { EndedWork } from '../../../core/workspace/run-changes.ts';
import { someRef } from '../../support/factories.ts';
import { checkAnswer } from '../../../core/questions/check-answer.ts';

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

/** Thirteen conflicts of a team, of which ten are listed. */
const cut = cutConflicts(
  Array.from({ length: 13 }, (_, at) => ({
    delegation_id: `pair.d${at + 2}`,
    with: ['pair.d1'],
    files: ['a.txt'],
  })),
  10,
);

it('MG5: of a list that is cut the last conflict says how many are missing, and the leader hears it', () => {
  expect(cut).toHaveLength(10);
  expect(cut.map(({ more }) => more)).toEqual([...Array<undefined>(9), 3]);
  expect(cutConflicts([...cut, merge, merge], 10).at(-1)).toMatchObject({ more: 5 });
  expect(cutConflicts([...cut, merge, merge], 9).at(-1)).toMatchObject({ more: 6 });
  expect(cutConflicts(cut, 10)).toEqual(cut);
  const ended = [{ name: 'd2', delegation_id: 'pair.d2' }];
  expect(describeTaskConflicts(cut, ended, ended).get('pair.d2')).toMatch(
    / So are those of 3 more tasks, not listed here\.$/,
  );
  const all = describeTaskConflicts(cut.slice(0, 9), ended, ended);
  expect(all.get('pair.d2')).toMatch(/on top of those changes\.$/);
});

it('LC3: the number of tasks that are not listed is told', () => {
  const left = listLeftChanges([{ wave: 1, task_conflicts: cut }]);
  expect(left.map(({ more }) => more)).toEqual([...Array<undefined>(9), 3]);
});

it('LC1: whose changes are left out is told with files, reason and cure, as it was found last', () => {
  const found = { wave: 2, merge_conflicts: [merge] };
  const [left, ...more] = listLeftChanges([
    { wave: 1, merge_conflicts: [merge] },
    { ...found, dropped: ['three'] },
    { wave: 3 },
  ]);
  expect(more).toEqual([]);
  expect(left).toMatchObject({ delegation_id: 'three', wave: 2, files: ['a.js'] });
  expect(left?.reason).toMatch(/"one", "two" changed the same lines, and a decision let those/);
  expect(left?.cure).toMatch(/^Try: /);
  const others = listLeftChanges([{ ...found, dropped: ['one', 'two'] }]);
  expect(others.map((one) => one.delegation_id)).toEqual(['one', 'two']);
  expect(others[0]?.reason).toContain('"three" changed');
  expect(listLeftChanges([found])[0]?.reason).toContain('no decision says which changes stand');
  expect(listLeftChanges([{ wave: 1 }])).toEqual([]);
});

it('LC2: a task whose changes its team left out is told with files, reason and cure', () => {
  const left = { delegation_id: 'pair.d2', files: ['a.js'] };
  const task_conflicts = [{ ...left, with: ['pair', 'pair.d1'] }];
  expect(listLeftChanges([{ wave: 2, merge_conflicts: [merge], task_conflicts }])).toMatchObject([
    { delegation_id: 'three' },
    {
      delegation_id: 'pair.d2',
      wave: 2,
      files: ['a.js'],
      reason: expect.stringMatching(/^"pair\.d1" changed the same lines .* leader .* told$/),
      cure: expect.stringMatching(/^Try: /),
    },
  ]);
  const byLeader = [{ ...left, with: ['pair'] }];
  expect(listLeftChanges([{ wave: 1, task_conflicts: byLeader }])).toMatchObject([
    { reason: expect.stringMatching(/^"pair" changed/) },
  ]);
});

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

const written = {
  path: 'a.js',
  sha256: someRef,
  bytes: 1,
  tool: 'edit_file',
  arguments_ref: someRef,
};
const left = {
  delegation_id: 'pair.d1',
  output_ref: someRef,
  files: [written],
  unfinished: true,
} as const;
const { unfinished: _unfinished, ...kept } = left;

it.each([
  ['completed', kept, { workspace_dir: '/work' }, 'pair.d2', 1],
  ['unfinished', left, { workspace_dir: '/work' }, 'pair.d2', 0],
  ['unfinished, for its leader', left, { workspace_dir: '/work' }, 'pair', 1],
  ['unfinished, in the folder', left, { workspace_dir: '/work', changes: 'direct' }, 'pair.d2', 1],
  ['unfinished, without a copy', left, {}, 'pair.d2', 1],
] as const)('LF6: files of a task that is %s', (_what, upstream, record, reader, count) => {
  expect(listReadable(upstream, record, reader)).toHaveLength(count);
});

it('LF6: nothing builds on an unfinished task', () => {
  expect(listUpstream([left, { ...kept, delegation_id: 'pair.d2' }])).toEqual(['pair.d2']);
});

it('LF5: the results of a plan’s agents are no files of the user’s, and a run without a plan has none', () => {
  expect(describeChanges({ waves })).toEqual({ delegation_ids: ['a', 'c'], results_folders: [] });
  const design = { plan_agents: [{ agent_name: 'facts_agent' }] };
  expect(describeChanges({ waves, design }).results_folders).toEqual([
    'agents/facts_agent/task_output',
  ]);
});

const proposed = (over: Partial<ProposedChanges> = {}): ProposedChanges => ({
  dir: '/srv/project',
  files_total: 2,
  lines_added: 10,
  lines_removed: 3,
  files: [
    { change: 'changed', path: 'src/a.js' },
    { change: 'added', path: 'src/b.js' },
  ],
  delegations: [],
  patch_ref: 'a'.repeat(64),
  patch_shown: '-old\n+new\n',
  can_commit: true,
  obstacle: '',
  ...over,
});

it('CQ1: the default leaves the folder as it is', () => {
  expect(changesQuestion(proposed()).default_answer).toBe('keep');
});

it('CQ2: a commit is offered only where nothing else would be in it', () => {
  expect(changesQuestion(proposed()).choices).toEqual(['apply', 'commit', 'keep']);
  const without = changesQuestion(proposed({ can_commit: false }));
  expect(without.choices).toEqual(['apply', 'keep']);
  expect(checkAnswer(without, 'commit').ok).toBe(false);
});

it('CQ3: files come first, then the patch, and a huge change fits', () => {
  expect(changesQuestion(proposed()).text).toMatch(
    /2 files \(\+10 −3 lines\): changed src\/a\.js, added src\/b\.js.*\n-old\n\+new/s,
  );
  const files = Array.from({ length: 50 }, (_, i) => ({
    change: 'added' as const,
    path: `${'deep/'.repeat(40)}${i}`,
  }));
  const dir = `/${'d'.repeat(900)}`;
  const { text } = changesQuestion(proposed({ files, dir, patch_shown: '+'.repeat(2_000) }));
  expect(text.length).toBeLessThan(2_000);
});
