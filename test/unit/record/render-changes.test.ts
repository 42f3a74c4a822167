import { renderChanges } from '../../../activities/projection/render-result.ts';
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
