import * as fc from 'fast-check';
import type { TaskStatus } from '../../../contracts/team-run.ts';
import { readBreaker } from '../../../core/schedule/failures.ts';
import {
  breakerOf,
  hasEnded,
  isScheduleDone,
  mayTake,
  decideGate,
} from '../../../core/schedule/schedule.ts';
import type { Entry, Job, Schedule } from '../../../core/schedule/schedule.ts';
import { openSchedule, stepSchedule } from '../../../core/schedule/step-schedule.ts';
import type {
  ScheduleCommand,
  ScheduleEvent,
  ScheduleStep,
} from '../../../core/schedule/step-schedule.ts';
import { property } from './builders.ts';

const size = 6;
const anyId = fc.nat(size).map((n) => `d${n}`);
const anyIds = fc.array(anyId, { maxLength: 2 });

/**
 * Plans of all kinds: with cycles, unknown dependencies, inputs that nothing gives, and members that rest. A wave has no
 * members and no order besides its dependencies; a team has no inputs by name.
 */
const anyPlan: fc.Arbitrary<Job[]> = fc
  .array(
    fc.record(
      {
        depends_on: anyIds,
        after: anyIds,
        required_inputs: fc.array(fc.constantFrom('goal', 'p1', 'p2', 'd1', 'nowhere'), {
          maxLength: 1,
        }),
        produces: fc.constantFrom<string[]>([], ['p1'], ['p2']),
        needs: fc.constantFrom('completed' as const, 'met' as const),
        member_id: fc.constantFrom('ann', 'bob'),
      },
      { requiredKeys: ['depends_on'] },
    ),
    { minLength: 1, maxLength: size },
  )
  .map((rows) => rows.map((row, i): Job => ({ delegation_id: `d${i}`, ...row })));

const anyStatus = fc.constantFrom<TaskStatus>(
  'completed',
  'failed',
  'failed',
  'timed_out',
  'stopped',
);

const anyEvent: fc.Arbitrary<ScheduleEvent> = fc.oneof(
  fc.record({
    type: fc.constantFrom('asked' as const, 'answered' as const, 'retried' as const),
    delegation_id: anyId,
  }),
  fc.record({
    type: fc.constant('asked' as const),
    delegation_id: anyId,
    unanswered: fc.constant(true),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('ended' as const),
      delegation_id: anyId,
      status: anyStatus,
      reason: fc.constantFrom('no luck', 'HTTP 400'),
      leaves_unmet: fc.boolean(),
    }),
  },
  fc.constantFrom<ScheduleEvent>({ type: 'pause' }, { type: 'resume' }, { type: 'resume' }),
  fc.constantFrom<ScheduleEvent>({ type: 'halt', reason: 'enough' }, { type: 'stop' }),
  anyPlan.map((jobs): ScheduleEvent => ({ type: 'add', jobs })),
);

const anyRun = fc.record({
  plan: anyPlan,
  rules: fc.record({
    known_inputs: fc.constant(['goal']),
    max_parallel: fc.integer({ min: 0, max: 3 }),
    same_failures_max: fc.constantFrom(2, 100),
    first_rest_ms: fc.constant(30),
    paused: fc.boolean(),
  }),
  events: fc.array(anyEvent, { maxLength: 40 }),
});

type Run = typeof anyRun extends fc.Arbitrary<infer R> ? R : never;

interface Moment {
  readonly before: Schedule | null;
  readonly event: ScheduleEvent | null;
  readonly step: ScheduleStep;
  readonly nowMs: number;
}

/** Plays a run, an event every 10 ms. */
function play({ plan, rules, events }: Run): Moment[] {
  const opened = { before: null, event: null, step: openSchedule(plan, rules, 0), nowMs: 0 };
  return events.reduce<Moment[]>(
    (moments, event, i) => {
      const before = moments.at(-1)?.step.schedule ?? opened.step.schedule;
      const nowMs = (i + 1) * 10;
      return [...moments, { before, event, step: stepSchedule(before, event, nowMs), nowMs }];
    },
    [opened],
  );
}

/** @returns a run in which the rule is broken, or null. */
function falsify(holds: (moment: Moment, run: Run) => boolean): unknown {
  const rule = fc.property(anyRun, (run) => play(run).every((moment) => holds(moment, run)));
  return fc.check(rule, property).counterexample;
}

const startedIn = (schedule: Schedule, commands: readonly ScheduleCommand[]): Entry[] =>
  schedule.entries.filter((one) => idsOf(commands, 'start').includes(one.delegation_id));

const idsIn = ({ entries }: Schedule, ...states: readonly Entry['state'][]): string[] =>
  entries.filter(({ state }) => states.includes(state)).map(({ delegation_id }) => delegation_id);

const idsOf = (commands: readonly ScheduleCommand[], type: ScheduleCommand['type']): string[] =>
  commands.filter((one) => one.type === type).map(({ delegation_id }) => delegation_id);

/** Returns the jobs that could work. */
function listReady(schedule: Schedule, nowMs: number): string[] {
  return schedule.entries
    .filter(
      (entry) =>
        entry.state === 'resuming' ||
        (entry.state === 'pending' &&
          decideGate(entry, schedule).type !== 'closed' &&
          (entry.member_id === undefined || mayTake(schedule, entry.member_id, nowMs))),
    )
    .map(({ delegation_id }) => delegation_id);
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.join() === other.join();

describe('stepSchedule, whatever happens', () => {
  it('SC1: never too many at once', () => {
    expect(
      falsify(
        ({ step }, { rules }) =>
          idsIn(step.schedule, 'running').length <= Math.max(1, rules.max_parallel),
      ),
    ).toBeNull();
  });

  it('SC2: never a slot that stays free while a job could work', () => {
    expect(
      falsify(
        ({ step: { schedule }, nowMs }) =>
          schedule.mode !== 'open' ||
          idsIn(schedule, 'running').length >= schedule.max_parallel ||
          listReady(schedule, nowMs).length === 0,
      ),
    ).toBeNull();
  });

  it('SC3: SC7: a job starts or is skipped once, and resumes only when it started', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const begun = new Set<string>();
        const gone = new Set<string>();
        for (const { type, delegation_id } of play(run).flatMap(({ step }) => step.commands)) {
          expect(begun.has(delegation_id)).toBe(type === 'resume');
          expect(gone.has(delegation_id)).toBe(false);
          if (type === 'start') begun.add(delegation_id);
          if (type === 'skip') gone.add(delegation_id);
        }
      }),
      property,
    );
  });

  it('SC3: a job starts only through an open gate', () => {
    expect(
      falsify(({ step: { schedule, commands } }) =>
        startedIn(schedule, commands).every((entry) => decideGate(entry, schedule).type === 'open'),
      ),
    ).toBeNull();
  });

  it('SC4: resumed jobs come first, and each group keeps the order of the entries', () => {
    expect(
      falsify(({ step: { schedule, commands } }) => {
        const order = schedule.entries.map(({ delegation_id }) => delegation_id);
        const sorted = (type: ScheduleCommand['type']): string[] =>
          order.filter((id) => idsOf(commands, type).includes(id));
        const worked = commands.filter(({ type }) => type !== 'skip');
        return isSame(
          worked.map(({ delegation_id }) => delegation_id),
          [...sorted('resume'), ...sorted('start')],
        );
      }),
    ).toBeNull();
  });

  it('SC6: nothing starts or resumes unless the schedule is open', () => {
    expect(
      falsify(
        ({ step: { schedule, commands } }) =>
          schedule.mode === 'open' || commands.every(({ type }) => type === 'skip'),
      ),
    ).toBeNull();
    expect(
      falsify(
        ({ step: { schedule } }) =>
          schedule.mode !== 'stopping' || idsIn(schedule, 'pending').length === 0,
      ),
    ).toBeNull();
  });

  it('SC8: an event without a change commands nothing', () => {
    expect(
      falsify(({ before, step }) => step.schedule !== before || step.commands.length === 0),
    ).toBeNull();
  });

  it('SC8: the same events lead to the same state, through JSON and back', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        for (const { before, event, step, nowMs } of play(run)) {
          if (before === null || event === null) continue;
          const copy: Schedule = JSON.parse(JSON.stringify(before));
          expect(stepSchedule(copy, event, nowMs)).toEqual(step);
        }
      }),
      property,
    );
  });

  it('SC9: while jobs are pending in an open schedule, others are under way that can open their gates', () => {
    expect(
      falsify(
        ({ step: { schedule } }) =>
          schedule.mode !== 'open' ||
          idsIn(schedule, 'pending').length === 0 ||
          idsIn(schedule, 'running', 'waiting', 'resuming').length > 0,
      ),
    ).toBeNull();
  });

  it('SC9: when everything that was started ends, the schedule is done', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        let nowMs = 10_000;
        let schedule = play(run).at(-1)?.step.schedule ?? openSchedule([], run.rules, 0).schedule;
        const on = (event: ScheduleEvent): void => {
          nowMs += 1;
          ({ schedule } = stepSchedule(schedule, event, nowMs));
        };
        on({ type: 'resume' });
        for (let i = 0; i < 100 && !isScheduleDone(schedule); i += 1) {
          const [delegation_id = ''] = idsIn(schedule, 'running', 'waiting', 'resuming');
          on({ type: 'ended', delegation_id, status: 'failed', reason: '', leaves_unmet: false });
        }
        expect(isScheduleDone(schedule)).toBe(true);
      }),
      property,
    );
  });

  it('SC10: an ended job keeps its end, whatever comes later', () => {
    expect(
      falsify(({ before, step }) =>
        (before?.entries ?? []).every(
          (entry) => !hasEnded(entry.state) || step.schedule.entries.includes(entry),
        ),
      ),
    ).toBeNull();
  });

  it('SC11: no job starts while its member rests, nor a second one beside a trial', () => {
    expect(
      falsify(({ step: { schedule, commands }, nowMs }) =>
        startedIn(schedule, commands).every(({ member_id = '' }) => {
          const atWork = schedule.entries.filter(
            (one) => one.state === 'running' && one.member_id === member_id,
          );
          const breaker = readBreaker(breakerOf(schedule, member_id), nowMs);
          return breaker === 'closed' || (breaker === 'trial' && atWork.length === 1);
        }),
      ),
    ).toBeNull();
  });

  it('SC12: a halt leaves nothing pending', () => {
    expect(
      falsify(
        ({ event, step }) => event?.type !== 'halt' || idsIn(step.schedule, 'pending').length === 0,
      ),
    ).toBeNull();
  });
});
