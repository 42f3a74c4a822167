import type { SeenEvent } from '../../chaos/history-watch.ts';
import { isAtEvent } from '../../chaos/strike.ts';
import type { Strike } from '../../chaos/strike.ts';

const at = (path: string): Strike => ({
  moment: { at: 'event', path, id: 9, type: 'TIMER_STARTED' },
  blow: { type: 'kill worker' },
});

const seen = (path: string, id: number, event: SeenEvent['event'] = {}): SeenEvent => ({
  workflowId: `run${path}`,
  id,
  event,
});
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

it('a moment of a history that is continued in a new one before it is its last event', () => {
  const continued = { workflowExecutionContinuedAsNewEventAttributes: {} };
  expect(isAtEvent(at(''), 'run', seen('', 7, continued))).toBe(true);
  expect(isAtEvent(at(''), 'run', seen('', 12, continued))).toBe(false);
});
