import * as fc from 'fast-check';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import {
  isDispatchDone,
  openDispatch,
  stepDispatch,
} from '../../../core/dispatch/step-dispatch.ts';
import { viewDispatch } from '../../../core/dispatch/view-dispatch.ts';
import type {
  DispatchCommand,
  DispatchEntry,
  DispatchEvent,
  DispatchState,
  DispatchStep,
} from '../../../core/dispatch/step-dispatch.ts';
import { decideGate } from '../../../core/gate/decide-gate.ts';
import { delegation, outcome, property } from './builders.ts';

const size = 6;
const anyId = fc.nat(size).map((n) => `d${n}`);

/** Plans of all kinds: with cycles, unknown dependencies, inputs that nobody gives. */
const anyPlan: fc.Arbitrary<DelegationOutline[]> = fc
  .array(
    fc.record({
      depends_on: fc.array(anyId, { maxLength: 2 }),
      required_inputs: fc.array(fc.constantFrom('goal', 'p1', 'p2', 'd1', 'nowhere'), {
        maxLength: 1,
      }),
      produces: fc.constantFrom<string[]>([], ['p1'], ['p2']),
      needs: fc.constantFrom('completed' as const, 'met' as const),
    }),
    { minLength: 1, maxLength: size },
  )
  .map((rows) => rows.map((row, i) => delegation(`d${i}`, row)));

const anyEvent: fc.Arbitrary<DispatchEvent> = fc.oneof(
  fc.record({ type: fc.constantFrom('asked' as const, 'answered' as const), delegation_id: anyId }),
  fc
    .tuple(anyId, fc.constantFrom('completed' as const, 'failed' as const), fc.boolean())
    .map(([id, status, isMet]): DispatchEvent => ({
      type: 'ended',
      outcome: outcome(id, { status, criteria_unmet: isMet ? [] : ['c'] }),
    })),
  fc.constantFrom<DispatchEvent>({ type: 'pause' }, { type: 'resume' }),
  { weight: 1, arbitrary: fc.constant<DispatchEvent>({ type: 'stop' }) },
);

const anyRun = fc.record({
  plan: anyPlan,
  max: fc.integer({ min: 1, max: 3 }),
  paused: fc.boolean(),
  events: fc.array(anyEvent, { maxLength: 40 }),
});

/** Observer that knows the commands alone. */
class Watcher {
  readonly faults: string[] = [];
  readonly running = new Set<string>();
  readonly started = new Set<string>();

  follow(before: DispatchState | null, event: DispatchEvent | null, step: DispatchStep): void {
    const states = new Map(viewDispatch(step.state).map((v) => [v.delegation_id, v.state]));
    if (event?.type === 'ended' || event?.type === 'asked') {
      const id = event.type === 'ended' ? event.outcome.delegation_id : event.delegation_id;
      if (states.get(id) !== 'running') this.running.delete(id);
    }
    for (const command of step.commands) this.obey(command);
    const isChanged = before === null || step.state !== before;
    this.expect(isChanged || step.commands.length === 0, 'commands without a change');
  }

  private expect(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault);
  }

  private obey(command: DispatchCommand): void {
    const id = command.delegation_id;
    if (command.type === 'start') {
      this.expect(!this.started.has(id), `${id} started twice`);
      this.started.add(id);
    }
    if (command.type === 'skip') this.expect(!this.started.has(id), `${id} skipped at work`);
    else this.expect(this.started.has(id), `${id} resumed before it started`);
    if (command.type !== 'skip') this.running.add(id);
  }
}

/** Finds the delegations that could work while a slot is free. */
function findIdle(state: DispatchState): readonly DispatchEntry[] {
  const running = state.entries.filter((e) => e.state === 'running').length;
  if (state.type !== 'dispatching' || running >= state.max_parallel) return [];
  const world = {
    known_inputs: new Set(state.known_inputs),
    delegations: new Map(
      state.entries.map((e) => [
        e.delegation.delegation_id,
        {
          state: e.state,
          leaves_unmet: 'leaves_unmet' in e && e.leaves_unmet,
          produces: e.delegation.produces,
        },
      ]),
    ),
  };
  return state.entries.filter(
    (e) =>
      e.state === 'resuming' ||
      (e.state === 'pending' && decideGate(e.delegation, world).type !== 'closed'),
  );
}

function nextToEnd(state: DispatchState): DispatchEvent | null {
  for (const entry of state.entries) {
    const { delegation_id } = entry.delegation;
    if (entry.state === 'waiting') return { type: 'answered', delegation_id };
    if (entry.state === 'running') return { type: 'ended', outcome: outcome(delegation_id) };
    if (entry.state === 'resuming' && state.type === 'stopping') {
      return { type: 'ended', outcome: outcome(delegation_id, { status: 'stopped' }) };
    }
  }
  return null;
}

describe('stepDispatch, whatever happens', () => {
  it('D1: D2: D3: never too many at once, never an idle slot, never a second start', () => {
    fc.assert(
      fc.property(anyRun, ({ plan, max, paused, events }) => {
        const watcher = new Watcher();
        let step = openDispatch(plan, { known_inputs: ['goal'], max_parallel: max, paused });
        watcher.follow(null, null, step);
        for (const event of events) {
          const before = step.state;
          step = stepDispatch(before, event);
          watcher.follow(before, event, step);
          expect(watcher.running.size).toBeLessThanOrEqual(max);
          expect(findIdle(step.state)).toEqual([]);
        }
        expect(watcher.faults).toEqual([]);
      }),
      property,
    );
  });

  it('D9: when all that was started ends, the dispatch is done', () => {
    fc.assert(
      fc.property(anyRun, ({ plan, max, paused, events }) => {
        let { state } = openDispatch(plan, { known_inputs: ['goal'], max_parallel: max, paused });
        for (const event of events) state = stepDispatch(state, event).state;
        state = stepDispatch(state, { type: 'resume' }).state;
        for (let i = 0; i < 100; i += 1) {
          const event = nextToEnd(state);
          if (event === null) break;
          state = stepDispatch(state, event).state;
        }
        expect(viewDispatch(state).map((v) => v.state)).not.toContain('pending');
        expect(isDispatchDone(state)).toBe(true);
      }),
      property,
    );
  });

  it('D8: the same events lead to the same state, through JSON and back', () => {
    fc.assert(
      fc.property(anyRun, ({ plan, max, paused, events }) => {
        const options = { known_inputs: ['goal'], max_parallel: max, paused };
        let { state } = openDispatch(plan, options);
        let { state: copy } = openDispatch(plan, options);
        for (const event of events) {
          state = stepDispatch(state, event).state;
          copy = JSON.parse(JSON.stringify(stepDispatch(copy, event).state));
        }
        expect(copy).toEqual(state);
      }),
      property,
    );
  });
});
