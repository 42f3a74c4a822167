import * as fc from 'fast-check';
import { defaultLimits, engineLimits } from '../../../core/limits.ts';
import { fitsInside, mustLeave, reserveEvents } from '../../../core/schedule/schedule.ts';
import type { ExecutorOutline } from '../../../contracts/delegation.ts';

const agent: ExecutorOutline = { kind: 'agent' };
const team = (max_delegations?: number): ExecutorOutline => ({
  kind: 'team',
  ...(max_delegations !== undefined && { max_delegations }),
});
const { inline_events } = defaultLimits;
const fresh = { events: 10, is_long: false, inline_events };

it('HI1: what has begun inside stays within inline_events, whatever each adds of its reservation', () => {
  const anyExecutor = fc.constantFrom(agent, team(3), team());
  fc.assert(
    fc.property(fc.array(anyExecutor), fc.nat(inline_events), (executors, events) => {
      const reserved: number[] = [];
      for (const executor of executors) {
        if (fitsInside(executor, reserved, { ...fresh, events }))
          reserved.push(reserveEvents(executor));
      }
      const most = reserved.reduce((sum, one) => sum + one, events);
      expect(reserved.length === 0 || most <= inline_events).toBe(true);
    }),
  );
});

it('HI2: nothing begins or stays inside when the server suggests to end the history', () => {
  const long = { ...fresh, is_long: true };
  expect(fitsInside(agent, [], long)).toBe(false);
  expect(mustLeave(long)).toBe(true);
  expect(mustLeave(fresh)).toBe(false);
  expect(mustLeave({ ...fresh, events: inline_events })).toBe(true);
});

it('a usual wave runs inside; a team with many tasks and every delegation after `inline_events: 1` do not', () => {
  const fifty = Array.from({ length: 50 }, () => reserveEvents(agent));
  expect(fitsInside(agent, fifty, fresh)).toBe(true);
  expect(fitsInside(team(), [], fresh)).toBe(true);
  expect(fitsInside(team(engineLimits.teamDelegationsMax), [], fresh)).toBe(false);
  expect(fitsInside(agent, [], { ...fresh, inline_events: 1 })).toBe(false);
});
