import * as fc from 'fast-check';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import type { TaskStatus } from '../../../contracts/team-run.ts';
import type { TurnReply } from '../../../contracts/model-turn.ts';
import {
  applyOutcomes,
  applyPlan,
  reopenCriteria,
  waiveCriteria,
} from '../../../core/criteria/criteria.ts';
import type { InboxEvent } from '../../../core/questions/inbox-event.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { InboxState } from '../../../core/questions/step-inbox.ts';
import { isScheduleDone } from '../../../core/schedule/schedule.ts';
import type { Job, Schedule } from '../../../core/schedule/schedule.ts';
import { openSchedule, stepSchedule } from '../../../core/schedule/step-schedule.ts';
import type { ScheduleEvent } from '../../../core/schedule/step-schedule.ts';
import { openTurns, stepTurns } from '../../../core/turns/step-turns.ts';
import type { TurnsEvent, TurnsState } from '../../../core/turns/turns-state.ts';
import {
  asked,
  criterion,
  delegation,
  escalation,
  outcome,
  property,
  usualRules,
} from './builders.ts';
import type { CriterionState } from '../../../contracts/criterion.ts';

/**
 * Whatever happens twice, or in another order, leads to the same state (seed 004 §12). A signal that a person sends
 * twice, a timer that fires beside an answer, children that end in any order: none of it may count.
 */

const ids = ['d0', 'd1', 'd2', 'd3', 'd4'];
const anyId = fc.constantFrom(...ids);

function play(state: InboxState, events: readonly InboxEvent[]): InboxState {
  return events.reduce((now, event) => stepInbox(now, event).state, state);
}

/** Removes rejected answers, which are kept each time so that their sender sees the reason. */
function withoutRejected({
  rejected: _rejected,
  rejected_total: _total,
  ...rest
}: InboxState): Omit<InboxState, 'rejected' | 'rejected_total'> {
  return rest;
}

/** Makes different questions for each asker, so that none joins another. */
const questions = (n: number) => [
  asked({ text: `Which region of ${n}?`, default_answer: 'eu' }),
  asked({ text: `How many of ${n}?`, expected_answer_format: 'number', default_answer: '3' }),
  asked({ text: `Sure of ${n}?`, expected_answer_format: 'boolean' }),
];

const ask = (n: number): InboxEvent => ({
  type: 'ask',
  escalation: escalation(`e${n}`, questions(n), {
    from: `run/wave-001/d${n}`,
    delegation_id: `d${n}`,
  }),
  now: 1,
  use_defaults: false,
  autonomy: 'ask',
  rules: { ...usualRules, deadline_seconds: n % 2 === 0 ? 60 : null },
});

const begin = (): InboxState => play(openInbox(null), [ask(0), ask(1), ask(2)]);

describe('the inbox', () => {
  const anyQuestion = fc.integer({ min: 1, max: 9 }).map((n) => `q${n}`);
  const anyAnswer: fc.Arbitrary<InboxEvent> = fc
    .record({ question_id: anyQuestion, answer: fc.constantFrom<unknown>('eu', 'us', 3, true, '') })
    .map((payload) => ({ type: 'answer', payload, now: 2, default_answered_by: 'user' }));
  const anyEvent: fc.Arbitrary<InboxEvent> = fc.oneof(
    { weight: 4, arbitrary: anyAnswer },
    anyQuestion.map((question_id): InboxEvent => ({ type: 'deadline', question_id, now: 3 })),
    anyQuestion.map((question_id): InboxEvent => ({
      type: 'stored',
      question_id,
      answer_ref: 'r',
    })),
    fc.nat(2).map((n): InboxEvent => ({
      type: 'withdraw',
      from: `run/wave-001/d${n}`,
      delegation_id: n === 0 ? null : `d${n}`,
      now: 4,
    })),
  );

  it('IN1 and IN3: each event twice is as once, and the second has no effect on anybody', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 25 }), (events) => {
        let once = begin();
        for (const event of events) {
          once = stepInbox(once, event).state;
          const again = stepInbox(once, event);
          expect(withoutRejected(again.state)).toEqual(withoutRejected(once));
          const told = again.effects.map(({ type }) => type);
          expect(told.filter((type) => type !== 'repeated' && type !== 'rejected')).toEqual([]);
        }
      }),
      property,
    );
  });

  it('IN2: an escalation that comes again while it waits asks nothing new', () => {
    fc.assert(
      fc.property(fc.subarray([0, 1, 2], { minLength: 1 }), (repeated) => {
        expect(play(begin(), repeated.map(ask))).toEqual(begin());
      }),
      property,
    );
  });

  it('IN1: answers to different questions may come in any order', () => {
    const answers = new Map<number, unknown>([
      [1, 'eu'],
      [2, 4],
      [3, true],
      [4, 'us'],
      [6, false],
    ]);
    const events = [...answers].map(([n, answer]): InboxEvent => ({
      type: 'answer',
      payload: { question_id: `q${n}`, answer },
      now: 2,
      default_answered_by: 'user',
    }));
    const inOrder = play(begin(), events);
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (shuffled) => {
        expect(play(begin(), shuffled)).toEqual(inOrder);
      }),
      property,
    );
  });
});

interface Wave {
  readonly plan: readonly DelegationOutline[];
  readonly max: number;
}

function openWave({ plan, max }: Wave): Schedule {
  return openSchedule<Job>(plan, { max_parallel: max, paused: false }, 0).schedule;
}

const endOf = (delegation_id: string, status: TaskStatus): ScheduleEvent => {
  return { type: 'ended', delegation_id, status, reason: '', leaves_unmet: false };
};

describe('the schedule', () => {
  const anyEvent: fc.Arbitrary<ScheduleEvent> = fc.oneof(
    fc.record({
      type: fc.constantFrom('asked' as const, 'answered' as const),
      delegation_id: anyId,
    }),
    fc
      .tuple(anyId, fc.constantFrom('completed' as const, 'failed' as const, 'stopped' as const))
      .map(([id, status]): ScheduleEvent => endOf(id, status)),
    fc.constantFrom<ScheduleEvent>({ type: 'pause' }, { type: 'resume' }, { type: 'stop' }),
  );
  /** Each may depend on those before it. */
  const anyPlan = fc
    .array(fc.subarray([0, 1, 2, 3]), { minLength: ids.length, maxLength: ids.length })
    .map((rows) =>
      rows.map((before, i) =>
        delegation(`d${i}`, { depends_on: before.filter((n) => n < i).map((n) => `d${n}`) }),
      ),
    );
  const anyWave = fc.record({ plan: anyPlan, max: fc.integer({ min: 1, max: 5 }) });

  it('SC8: each event twice is as once, and the second commands nothing', () => {
    fc.assert(
      fc.property(anyWave, fc.array(anyEvent, { maxLength: 30 }), (wave, events) => {
        let schedule = openWave(wave);
        for (const event of events) {
          ({ schedule } = stepSchedule(schedule, event, 0));
          expect(stepSchedule(schedule, event, 0)).toEqual({ schedule, commands: [] });
        }
      }),
      property,
    );
  });

  it('SC9: in whatever order delegations end, each ends the same way', () => {
    const anyFates = fc.array(fc.boolean(), { minLength: ids.length, maxLength: ids.length });
    /** Which of those at work ends next, again and again. */
    const anyOrder = fc.array(fc.nat(4), { minLength: ids.length, maxLength: ids.length });
    const end = (begun: Schedule, fates: readonly boolean[], order: readonly number[]) => {
      let schedule = begun;
      for (const pick of order) {
        const running = schedule.entries.filter((entry) => entry.state === 'running');
        const next = running[pick % Math.max(1, running.length)]?.delegation_id;
        if (next === undefined) break;
        const status = fates[ids.indexOf(next)] === true ? 'completed' : 'failed';
        ({ schedule } = stepSchedule(schedule, endOf(next, status), 0));
      }
      expect(isScheduleDone(schedule)).toBe(true);
      return schedule.entries.map((entry) => `${entry.delegation_id} ${entry.state}`);
    };
    fc.assert(
      fc.property(anyWave, anyFates, anyOrder, anyOrder, (wave, fates, one, other) => {
        expect(end(openWave(wave), fates, one)).toEqual(end(openWave(wave), fates, other));
      }),
      property,
    );
  });
});

function openTalk(max_turns: number): TurnsState {
  return openTurns({ max_turns, max_output_tokens: 16_000 });
}

describe('the turns of a conversation', () => {
  const fault = { path: 'p', reason: 'r', hint: 'Try: h' };
  const anyReply = fc.constantFrom<TurnReply>(
    { type: 'malformed', faults: [fault] },
    { type: 'tools', calls: [{ tool_use_id: 't1', name: 'load_detail', input_ref: 'r' }] },
    { type: 'truncated' },
    { type: 'context_exceeded' },
    { type: 'refused', text: '' },
    { type: 'empty' },
    { type: 'paused' },
    { type: 'unknown_stop', stop_reason: 'tea' },
    { type: 'aborted' },
  );
  const anyEvent: fc.Arbitrary<TurnsEvent> = fc.oneof(
    { weight: 3, arbitrary: anyReply.map((reply): TurnsEvent => ({ type: 'reply', reply })) },
    fc.constantFrom<TurnsEvent>(
      { type: 'checked', faults: [] },
      { type: 'checked', faults: [fault] },
      { type: 'tool_results', count: 1 },
      { type: 'tool_results', count: 2 },
      { type: 'resumed' },
    ),
  );
  const anyTalk = fc.record({
    max_turns: fc.integer({ min: 1, max: 8 }),
    events: fc.array(anyEvent, { maxLength: 30 }),
  });

  it('TU1: whatever is no reply to a new call counts once', () => {
    fc.assert(
      fc.property(anyTalk, ({ max_turns, events }) => {
        let state = openTalk(max_turns);
        for (const event of events) {
          state = stepTurns(state, event).state;
          // After a repair the same reply again is the answer to another call, which may be as bad.
          const isAnotherReply = event.type === 'reply' && state.type === 'calling';
          const again = isAnotherReply ? state : stepTurns(state, event).state;
          expect(again).toEqual(state);
        }
      }),
      property,
    );
  });

  it('TU2: TU8: never too many calls, and the same after continue-as-new at any place', () => {
    fc.assert(
      fc.property(anyTalk, ({ max_turns, events }) => {
        let state = openTalk(max_turns);
        for (const event of events) {
          const carried: TurnsState = JSON.parse(JSON.stringify(state));
          const wasOver = state.type === 'failed' || state.type === 'stopped';
          const next = stepTurns(state, event);
          expect(stepTurns(carried, event)).toEqual(next);
          expect(next.state.turns).toBeLessThanOrEqual(max_turns);
          expect(wasOver ? next.state : state).toEqual(state);
          state = next.state;
        }
      }),
      property,
    );
  });
});

function statesOf(criteria: readonly CriterionState[]): string[] {
  return criteria.map(({ criterion_id, state }) => `${criterion_id} ${state}`);
}

describe('the criteria', () => {
  const names = ['a', 'b', 'c', 'd'];
  const anyNames = fc.subarray(names);
  const anyCriteria = fc
    .array(fc.constantFrom('open' as const, 'met' as const, 'waived' as const), {
      minLength: 3,
      maxLength: 3,
    })
    .map((states) => states.map((state, i) => criterion(names[i] ?? '', state)));
  const anyOutcome = fc
    .record({ id: anyId, criteria_met: anyNames, criteria_unmet: anyNames, spoke: fc.boolean() })
    .map(({ id, spoke, ...rest }) =>
      outcome(id, {
        ...rest,
        status: spoke ? 'completed' : 'skipped',
        ...(!spoke && { output_ref: null }),
      }),
    );
  const anyOutcomes = fc.array(anyOutcome, { maxLength: 5 });

  it('C1: C2: planning, reporting, reopening and waiving twice is as once', () => {
    fc.assert(
      fc.property(anyCriteria, anyNames, anyOutcomes, (before, named, outcomes) => {
        const steps = [
          (list: typeof before) => applyPlan(list, [delegation('d', { criterion_ids: named })]),
          (list: typeof before) => applyOutcomes(list, outcomes),
          (list: typeof before) => reopenCriteria(list, named),
          (list: typeof before) => waiveCriteria(list, named),
        ];
        for (const step of steps) expect(step(step(before))).toEqual(step(before));
      }),
      property,
    );
  });

  it('C4: the order of outcomes changes no state, nor does the order of reopening and waiving', () => {
    fc.assert(
      fc.property(
        anyCriteria,
        anyOutcomes,
        anyNames,
        anyNames,
        (before, outcomes, some, others) => {
          expect(statesOf(applyOutcomes(before, outcomes.toReversed()))).toEqual(
            statesOf(applyOutcomes(before, outcomes)),
          );
          expect(reopenCriteria(waiveCriteria(before, some), others)).toEqual(
            waiveCriteria(reopenCriteria(before, others), some),
          );
        },
      ),
      property,
    );
  });
});
