import { shareKeys } from '../../chaos/call-name.ts';
import { beginsWrite, momentsOf } from '../../chaos/play-reference.ts';
import type { EventMoment, Moments } from '../../chaos/play-reference.ts';

const at = (path: string): EventMoment => ({
  at: 'event',
  path,
  continued: 0,
  id: 1,
  type: 'TIMER_STARTED',
});

const ofRegion: Moments = {
  events: [at('/wave-001/region'), at('/wave-001/region/d1/execute')],
  calls: ['region 1', 'region.d1 execute peer-1 1'],
};
const whole: Moments = {
  events: [at(''), at('/wave-001'), ...ofRegion.events, at('/wave-001/regions')],
  calls: ['plan 1', ...ofRegion.calls, 'regions 1'],
};

it('the moments of a delegation are its own, those of its phases, and those of tasks of its team', () => {
  expect(momentsOf(whole, 'region')).toEqual(ofRegion);
  expect(momentsOf(whole, undefined)).toEqual(whole);
});

it('calls of a reset run that may share the number of an activity share a key', () => {
  const wave = 'run/wave-001';
  const keys = [
    `${wave}/p1/writer/delegation/6`,
    `${wave}/p2/writer/delegation/6`,
    `${wave}/p2/writer/delegation/7`,
    'run/design/designer/design/6',
    `${wave}/planner/question_review/6`,
  ];
  const [first = ''] = keys;
  expect([...shareKeys(keys).values()]).toEqual([first, first, keys[2], keys[3], first]);
});

it('events that the server writes in one transaction are one moment', () => {
  const events = [
    { eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED' },
    { eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED' },
    { eventType: 'EVENT_TYPE_WORKFLOW_TASK_STARTED' },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
      workflowTaskCompletedEventAttributes: { startedEventId: '3' },
    },
    {
      eventType: 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
      activityTaskScheduledEventAttributes: { workflowTaskCompletedEventId: '4' },
    },
    {
      eventType: 'EVENT_TYPE_TIMER_STARTED',
      timerStartedEventAttributes: { workflowTaskCompletedEventId: '4' },
    },
    { eventType: 'EVENT_TYPE_ACTIVITY_TASK_STARTED' },
    {
      eventType: 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED',
      activityTaskCompletedEventAttributes: { startedEventId: '7' },
    },
    { eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED' },
    { eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED' },
    // Buffered until the workflow task was over, so its start is not the event before it.
    {
      eventType: 'EVENT_TYPE_ACTIVITY_TASK_FAILED',
      activityTaskFailedEventAttributes: { startedEventId: '7' },
    },
  ].map((event, index) => ({ ...event, eventId: String(index + 1) }));
  const begins = events.filter(beginsWrite).map(({ eventId }) => Number(eventId));
  expect(begins).toEqual([1, 3, 4, 7, 10, 11]);
});
