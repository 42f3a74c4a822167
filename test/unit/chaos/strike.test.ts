import type { SeenEvent } from '../../chaos/history-watch.ts';
import { isAtEvent } from '../../chaos/strike.ts';
import type { Strike } from '../../chaos/strike.ts';

const at = (path: string, continued = 0): Strike => ({
  moment: { at: 'event', path, continued, id: 9, type: 'TIMER_STARTED' },
  blow: { type: 'kill worker' },
});

const seen = (
  path: string,
  id: number,
  event: SeenEvent['event'] = {},
  continued = 0,
): SeenEvent => ({ workflowId: `run${path}`, continued, id, event });
const end = { workflowExecutionCompletedEventAttributes: {} };

it('a moment is the event of its number, in its own history', () => {
  expect(isAtEvent(at('/wave-001'), 'run', seen('/wave-001', 9))).toBe(true);
  expect(isAtEvent(at('/wave-001'), 'run', seen('/wave-001', 8))).toBe(false);
  expect(isAtEvent(at('/wave-001'), 'run', seen('/wave-002', 9))).toBe(false);
});

it('a moment of a history that ends before it is its end, but for that of the run', () => {
  expect(isAtEvent(at('/wave-001'), 'run', seen('/wave-001', 7, end))).toBe(true);
  expect(isAtEvent(at('/wave-001'), 'run', seen('/wave-001', 12, end))).toBe(false);
  expect(isAtEvent(at(''), 'run', seen('', 7, end))).toBe(false);
});

it('when a history is continued as new before a moment, its last event is the moment', () => {
  const last = { workflowExecutionContinuedAsNewEventAttributes: {} };
  expect(isAtEvent(at(''), 'run', seen('', 7, last))).toBe(true);
  expect(isAtEvent(at(''), 'run', seen('', 12, last))).toBe(false);
});

it('a moment is in its own execution of a workflow that is continued as new', () => {
  const last = { workflowExecutionContinuedAsNewEventAttributes: {} };
  expect(isAtEvent(at('', 1), 'run', seen('', 9))).toBe(false);
  expect(isAtEvent(at('', 1), 'run', seen('', 7, last))).toBe(false);
  expect(isAtEvent(at('', 1), 'run', seen('', 9, {}, 1))).toBe(true);
});
