import type { DelegationState } from '../../../contracts/views.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import { delegation } from './builders.ts';
import {
  decideGate,
  fitsInside,
  mustLeave,
  reserveEvents,
} from '../../../core/schedule/schedule.ts';
import * as fc from 'fast-check';
import { defaultLimits, engineLimits } from '../../../core/limits.ts';
import type { ExecutorOutline } from '../../../contracts/delegation.ts';

type World = Pick<Schedule, 'entries' | 'known_inputs'>;

function world(
  known: readonly string[],
  rows: Readonly<Record<string, [DelegationState, isMet?: boolean, produces?: string[]]>> = {},
): World {
  return {
    known_inputs: known,
    entries: Object.entries(rows).map(([id, [state, isMet = false, produces = []]]) => ({
      ...delegation(id, { produces }),
      state,
      leaves_unmet: !isMet,
      reason: '',
      attempts: 0,
      began_ms: 0,
    })),
  };
}

describe('decideGate', () => {
  it('G1: opens when everything required is known and every dependency has completed', () => {
    const d2 = delegation('d2', { required_inputs: ['goal', 'prices', 'd1'], depends_on: ['d1'] });
    const ready = world(['goal'], { d1: ['completed', true, ['prices']], d2: ['pending'] });
    expect(decideGate(d2, ready)).toEqual({ type: 'open' });
    expect(decideGate(delegation('d2'), world([]))).toEqual({ type: 'open' });
  });

  it.each([undefined, 'completed'] as const)(
    'finding F5: G1: a completed output provides its inputs, whatever it leaves unmet (needs %s)',
    (needs) => {
      const over = { required_inputs: ['p'], depends_on: ['d1'] };
      const d2 = delegation('d2', needs === undefined ? over : { ...over, needs });
      expect(decideGate(d2, world([], { d1: ['completed', false, ['p']] }))).toEqual({
        type: 'open',
      });
    },
  );

  it('G1: G3: who needs it met waits for that, and never starts without it', () => {
    const d2 = delegation('d2', { required_inputs: ['p'], depends_on: ['d1'], needs: 'met' });
    expect(decideGate(d2, world([], { d1: ['completed', true, ['p']] })).type).toBe('open');
    expect(decideGate(d2, world([], { d1: ['running', false, ['p']] })).type).toBe('closed');
    expect(decideGate(d2, world([], { d1: ['completed', false, ['p']] }))).toEqual({
      type: 'impossible',
      reason: 'input "p" cannot come: d1 completed with criteria unmet, and "needs" is "met"',
    });
  });

  it('G2: a name that is only claimed as provided does not open it', () => {
    const d1 = delegation('d1', { required_inputs: ['prices'], provided_inputs: ['prices'] });
    expect(decideGate(d1, world([], { d1: ['pending'] }))).toEqual({
      type: 'impossible',
      reason: 'nothing produces the input "prices"',
    });
  });

  it.each([
    ['failed', 'd1 failed'],
    ['timed_out', 'd1 ran out of time'],
    ['skipped', 'd1 was skipped'],
    ['stopped', 'd1 was stopped'],
  ] as const)('G3: a dependency that %s makes it impossible', (state, reason) => {
    const gate = decideGate(delegation('d2', { depends_on: ['d1'] }), world([], { d1: [state] }));
    expect(gate).toEqual({ type: 'impossible', reason });
  });

  it('G3: an input whose producer failed cannot come; an unknown dependency neither', () => {
    const needs = delegation('d2', { required_inputs: ['p'] });
    expect(decideGate(needs, world([], { d1: ['failed', false, ['p']] }))).toEqual({
      type: 'impossible',
      reason: 'input "p" cannot come: d1 failed',
    });
    expect(decideGate(delegation('d2', { depends_on: ['dx'] }), world([]))).toEqual({
      type: 'impossible',
      reason: 'there is no delegation "dx"',
    });
  });

  it('G4: what is missing is named, with who brings it and in which state that one is', () => {
    const d3 = delegation('d3', { required_inputs: ['p', 'goal'], depends_on: ['d1', 'd2'] });
    const gate = decideGate(
      d3,
      world(['goal'], { d1: ['running', false, ['p']], d2: ['waiting'], d3: ['pending'] }),
    );
    expect(gate).toEqual({
      type: 'closed',
      waiting_for: ['input "p" from d1 (running)', 'd2 (waiting)'],
    });
  });

  it.each(['completed', 'failed', 'timed_out', 'stopped', 'skipped'] as const)(
    'G1: a job comes after what has ended, also when it ended as %s',
    (state) => {
      const d2 = { ...delegation('d2'), after: ['d1', 'gone'] };
      expect(decideGate(d2, world([], { d1: ['running'] }))).toEqual({
        type: 'closed',
        waiting_for: ['d1 (running)'],
      });
      expect(decideGate(d2, world([], { d1: [state] })).type).toBe('open');
      const alsoNeeded = { ...d2, depends_on: ['d1'] };
      const gate = decideGate(alsoNeeded, world([], { d1: [state] }));
      expect(gate.type).toBe(state === 'completed' ? 'open' : 'impossible');
    },
  );

  it('G4: a job with a name of its own is called by it', () => {
    const { entries } = world([], { d1: ['failed'] });
    const named = { entries: entries.map((entry) => ({ ...entry, name: 'facts' })) };
    const gate = decideGate(delegation('d2', { depends_on: ['d1'] }), named);
    expect(gate).toEqual({ type: 'impossible', reason: 'facts failed' });
  });

  it('G5: asking again changes nothing', () => {
    const d2 = delegation('d2', { depends_on: ['d1'] });
    const closed = world([], { d1: ['running'] });
    const first = decideGate(d2, closed);
    for (let i = 0; i < 100; i += 1) expect(decideGate(d2, closed)).toEqual(first);
  });
});

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
        if (fitsInside({ executor }, reserved, { ...fresh, events }))
          reserved.push(reserveEvents({ executor }));
      }
      const most = reserved.reduce((sum, one) => sum + one, events);
      expect(reserved.length === 0 || most <= inline_events).toBe(true);
    }),
  );
});

it('HI2: nothing begins or stays inside when the server suggests to end the history', () => {
  const long = { ...fresh, is_long: true };
  expect(fitsInside({ executor: agent }, [], long)).toBe(false);
  expect(mustLeave(long)).toBe(true);
  expect(mustLeave(fresh)).toBe(false);
  expect(mustLeave({ ...fresh, events: inline_events })).toBe(true);
});

it('a usual wave runs inside; a team with many tasks and every delegation after `inline_events: 1` do not', () => {
  const fifty = Array.from({ length: 50 }, () => reserveEvents({ executor: agent }));
  expect(fitsInside({ executor: agent }, fifty, fresh)).toBe(true);
  expect(fitsInside({ executor: team() }, [], fresh)).toBe(true);
  expect(fitsInside({ executor: team(engineLimits.teamDelegationsMax) }, [], fresh)).toBe(false);
  expect(fitsInside({ executor: agent }, [], { ...fresh, inline_events: 1 })).toBe(false);
});

it('an output that a triad judges reserves room for the triad too', () => {
  const verification = { verified_by: 'reviewer', triad_agents: ['analyst', 'tester', 'reviewer'] };
  const alone = reserveEvents({ executor: agent, verification: { verified_by: 'reviewer' } });
  expect(alone).toBe(reserveEvents({ executor: agent }));
  expect(reserveEvents({ executor: agent, verification })).toBe(alone + engineLimits.triadEvents);
});
