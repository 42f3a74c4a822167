import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { takenAhead } from '../../workflows/shared/task-order.ts';
import { findFailedTasks } from '../support/find-broken-promises.ts';
import type { Allowance } from '../support/find-broken-promises.ts';

/** Number of faults in a history with a task that failed, and these events after it. */
function found(message: string, allowance: Allowance, ...after: readonly string[]): number {
  const cause = 'WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE';
  const events = ['Failed', ...after].map((name, at) => ({
    eventId: String(at + 1),
    eventType: `EVENT_TYPE_WORKFLOW_TASK_${name === 'TimedOut' ? 'TIMED_OUT' : name.toUpperCase()}`,
    [`workflowTask${name}EventAttributes`]:
      name === 'Failed' ? { cause, failure: { message } } : {},
  }));
  const stored = { workflowId: 'my-run', runId: '', type: 'delegation' };
  return findFailedTasks({ ...stored, history: historyFromJSON({ events }) }, allowance).length;
}

const allowed = { refusedTasks: true };

it('a task that was refused for a query breaks a promise, unless workers were replaced or a task was lost', () => {
  expect(found(takenAhead, {})).toBe(1);
  expect(found(takenAhead, { orphans: true, lostUsage: true })).toBe(1);
  expect(found(takenAhead, allowed)).toBe(0);
  expect(found(takenAhead, {}, 'TimedOut')).toBe(0);
  expect(found('Another failure.', allowed)).toBe(1);
});

it('a task in which Core lost its place breaks a promise, unless workers were replaced and it was done again', () => {
  const lost =
    'Fatal error in workflow machines: ActivityMachine in state ScheduledEventRecorded says the transition is invalid during event EventInfo { event_id: 188, event_type: ActivityTaskCompleted }';
  expect(found(lost, allowed, 'Scheduled', 'Started', 'Completed')).toBe(0);
  expect(found(lost, {}, 'Completed')).toBe(1);
  expect(found(lost, allowed, 'Scheduled')).toBe(1);
  expect(found(lost, allowed, 'Failed', 'Completed')).toBe(1);
  expect(found(lost.replace('ActivityMachine', 'TimerMachine'), allowed, 'Completed')).toBe(1);
});
