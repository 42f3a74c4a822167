import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { measureRecovery } from '../../chaos/recovery.ts';
import type { StoredHistory } from '../../support/histories.ts';

/** Seconds after noon → what happened. */
type Story = readonly (readonly [second: number, type: string, attributes?: object])[];

const noonMs = Date.parse('2026-01-01T12:00:00Z');

function at(second: number): number {
  return noonMs + second * 1_000;
}

function historyOf(story: Story): StoredHistory {
  const events = story.map(([second, type, attributes = {}], index) => {
    const field = `${type.toLowerCase().replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())}EventAttributes`;
    return {
      eventId: String(index + 1),
      eventTime: new Date(at(second)).toISOString(),
      eventType: `EVENT_TYPE_${type}`,
      [field]: attributes,
    };
  });
  return { workflowId: 'w', runId: 'r', type: 't', history: historyFromJSON({ events }) };
}

const absence = { atMs: at(10), readyAtMs: at(15) };
const model = { activityType: { name: 'modelTurn' } };

it('an activity goes on when its last attempt begins', () => {
  const history = historyOf([
    [9, 'ACTIVITY_TASK_SCHEDULED', model],
    [18, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '1', attempt: 2 }],
    [20, 'ACTIVITY_TASK_COMPLETED', { scheduledEventId: '1', startedEventId: '2' }],
  ]);
  expect(measureRecovery([history], absence)).toEqual({
    firstMs: 3_000,
    allMs: 3_000,
    last: 'modelTurn',
    callLeft: true,
  });
});

it('a workflow goes on when a task of it is completed', () => {
  const history = historyOf([
    [9, 'WORKFLOW_TASK_SCHEDULED'],
    [9, 'WORKFLOW_TASK_STARTED', { scheduledEventId: '1' }],
    [19, 'WORKFLOW_TASK_TIMED_OUT', { scheduledEventId: '1' }],
    [19, 'WORKFLOW_TASK_SCHEDULED'],
    [19, 'WORKFLOW_TASK_STARTED', { scheduledEventId: '4' }],
    [20, 'WORKFLOW_TASK_COMPLETED', { scheduledEventId: '4' }],
  ]);
  expect(measureRecovery([history], absence)).toEqual({
    firstMs: 5_000,
    allMs: 5_000,
    last: 'workflow task',
    callLeft: false,
  });
});

it('the first and the last of what lay there are told apart, over all histories', () => {
  const quick = historyOf([
    [12, 'WORKFLOW_TASK_SCHEDULED'],
    [16, 'WORKFLOW_TASK_COMPLETED', { scheduledEventId: '1' }],
  ]);
  const slow = historyOf([
    [9, 'ACTIVITY_TASK_SCHEDULED', model],
    [27, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '1', attempt: 2 }],
  ]);
  expect(measureRecovery([quick, slow], absence)).toEqual({
    firstMs: 1_000,
    allMs: 12_000,
    last: 'modelTurn',
    callLeft: true,
  });
});

it('what was done before the death, or began after the return, had nothing to recover', () => {
  const history = historyOf([
    [8, 'WORKFLOW_TASK_SCHEDULED'],
    [9, 'WORKFLOW_TASK_COMPLETED', { scheduledEventId: '1' }],
    [9, 'ACTIVITY_TASK_SCHEDULED', model],
    [9.5, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '3', attempt: 1 }],
    [9.6, 'ACTIVITY_TASK_COMPLETED', { scheduledEventId: '3', startedEventId: '4' }],
    [30, 'WORKFLOW_TASK_SCHEDULED'],
    [31, 'WORKFLOW_TASK_COMPLETED', { scheduledEventId: '6' }],
    [31, 'ACTIVITY_TASK_SCHEDULED', model],
    [32, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '8', attempt: 1 }],
  ]);
  expect(measureRecovery([history], absence)).toBeNull();
});

it('what the next death found still lying there counts until then', () => {
  const history = historyOf([
    [9, 'ACTIVITY_TASK_SCHEDULED', model],
    [60, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '1', attempt: 3 }],
  ]);
  expect(measureRecovery([history], absence, at(40))?.allMs).toBe(25_000);
});
