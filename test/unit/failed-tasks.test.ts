import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { takenAhead } from '../../workflows/shared/task-order.ts';
import { findFailedTasks } from '../support/find-broken-promises.ts';
import type { Allowance } from '../support/find-broken-promises.ts';

function found(message: string, allowance: Allowance): number {
  const failed = { cause: 'WORKFLOW_TASK_FAILED_CAUSE_UNSPECIFIED', failure: { message } };
  const eventType = 'EVENT_TYPE_WORKFLOW_TASK_FAILED';
  const events = [{ eventId: '1', eventType, workflowTaskFailedEventAttributes: failed }];
  const history = historyFromJSON({ events });
  return findFailedTasks(
    { workflowId: 'my-run', runId: '', type: 'delegation', history },
    allowance,
  ).length;
}

it('a task that was refused for a query breaks a promise, unless it was to be expected', () => {
  expect(found(takenAhead, {})).toBe(1);
  expect(found(takenAhead, { orphans: true, lostUsage: true })).toBe(1);
  expect(found(takenAhead, { refusedTasks: true })).toBe(0);
  expect(found('Another failure.', { refusedTasks: true })).toBe(1);
});
