import { renderChanges, renderLeftChanges } from '../../../activities/projection/render-result.ts';
import type { RecordedDesign } from '../../../contracts/design-run.ts';
import type { SettledChanges } from '../../../contracts/effect.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { someRef } from '../../support/factories.ts';

const settled_changes: SettledChanges = {
  state: 'kept',
  note: '',
  dir: '/shop',
  files: [{ path: 'agents/till.md', change: 'changed' }],
  files_total: 1,
  lines_added: 3,
  lines_removed: 1,
  delegations: [
    { delegation_id: 'till_1727539200', files_total: 2, lines_added: 8, lines_removed: 1 },
  ],
  patch_ref: someRef,
};

const design: RecordedDesign = {
  status: 'approved',
  materials: [],
  plan_refs: [],
  plan_agents: [{ agent_name: 'till_agent', task_ids: ['till_1727539200'] }],
  findings: [],
  approved_by: null,
  usage: noUsage,
};

it('says of the numbers of a task of a plan that they include its results for others', () => {
  const text = renderChanges({ run_id: 'shop', settled_changes, design });
  expect(text).toContain('- till_1727539200: 2 files (+8 −1 lines)\n\nThe numbers of a delegation');
  expect(renderChanges({ run_id: 'shop', settled_changes })).not.toContain('The numbers of');
});

it('names the changes that a merge left out, with wave, files, reason, cure and place', () => {
  const found = { delegation_id: 'till', with: ['shop'], files: ['a.js', 'b.js'] };
  const wave = { wave: 2, status: 'decided', merge_conflicts: [found], dropped: ['till'] } as const;
  const rest = { plan_ref: null, outcomes: [], decision_ref: null, usage: noUsage };
  const stored = { ...wave, ...rest, planned_at: null, done_at: 1, shown: null };
  expect(renderLeftChanges({ waves: [stored] })).toMatch(
    /^## Changes that were left out\n\n- `till` of wave 2, in "a.js", "b.js": "shop" changed .* Try: .* `worktrees\/till`$/,
  );
  expect(renderLeftChanges({ waves: [] })).toBeNull();
  const cut = { ...stored, task_conflicts: [{ ...found, delegation_id: 'till.d2', more: 3 }] };
  expect(renderLeftChanges({ waves: [cut] })).toMatch(/\n- … and 3 more tasks of teams$/);
});
