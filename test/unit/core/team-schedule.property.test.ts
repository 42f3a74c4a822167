import * as fc from 'fast-check';
import type { TaskStatus } from '../../../contracts/team-run.ts';
import { engineLimits } from '../../../core/limits.ts';
import { readBreaker } from '../../../core/schedule/failures.ts';
import { breakerOf, hasEnded, isScheduleDone } from '../../../core/schedule/schedule.ts';
import { stepSchedule } from '../../../core/schedule/step-schedule.ts';
import type { ScheduleEvent } from '../../../core/schedule/step-schedule.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import { slimState } from '../../../core/team/team-state.ts';
import type { GivenCall, TeamState, TeamTask } from '../../../core/team/team-state.ts';
import { teamSeat } from '../../support/team-fixtures.ts';
import { createPrng } from '../../support/prng.ts';
import type { Prng } from '../../support/prng.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property as everyProperty } from './builders.ts';

/** The schedule of a team: tasks that a leader gives out in several replies, and members that fail now and then. */

/** Each plays some fifty events. */
const property = { ...everyProperty, numRuns: 80 };

interface Game {
  readonly seed: number;
  readonly parallel: boolean;
  readonly cap: number;
  /** Probability that a task fails, 0 to 1. */
  readonly failing: number;
}

const anyGame = fc.record({
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  parallel: fc.boolean(),
  cap: fc.integer({ min: 1, max: 4 }),
  failing: fc.constantFrom(0, 0.3, 0.9),
});

type TaskEvent = ScheduleEvent<TeamTask>;

interface Moment {
  readonly state: TeamState;
  /** delegation_ids of tasks that start. */
  readonly start: readonly string[];
  readonly now: number;
}

const members = ['ann', 'bob', 'cy'];
const ends: readonly TaskStatus[] = ['failed', 'timed_out', 'stopped'];

function step(state: TeamState, event: TaskEvent, now: number): Moment {
  const { schedule, commands } = stepSchedule(state.tasks, event, now);
  const start = commands.flatMap((one) => (one.type === 'start' ? [one.delegation_id] : []));
  return { state: { ...state, tasks: schedule }, start, now };
}

const running = ({ tasks }: TeamState) => tasks.entries.filter((task) => task.state === 'running');

/** Plays replies of a leader until nothing is at work. Between replies the schedule is paused, as in a team. */
function play({ seed, parallel, cap, failing }: Game): Moment[] {
  const chance = createPrng(seed);
  const moments: Moment[] = [];
  let now = 0;
  let state = teamOf({ allow_parallel: parallel, max_parallel: cap, max_delegations: 12 });
  const on = (event: TaskEvent): void => {
    const moment = step(state, event, now);
    moments.push(moment);
    ({ state } = moment);
  };
  for (let reply = 0; reply < 3; reply += 1) {
    state = admitCalls(state, callsOf(chance), now).state;
    expect(running(state)).toEqual([]);
    on({ type: 'resume' });
    for (let left = 100; left > 0 && running(state).length > 0; left -= 1) {
      now += chance.integer(0, 40_000);
      const { delegation_id } = chance.pick(running(state));
      const status = chance.chance(failing) ? chance.pick(ends) : 'completed';
      const reason = status === 'completed' ? '' : 'why';
      on({ type: 'ended', delegation_id, status, reason, leaves_unmet: false });
    }
    on({ type: 'pause' });
    expect(isScheduleDone(state.tasks)).toBe(true);
    state = slimState(state);
  }
  return moments;
}

function callsOf(chance: Prng): GivenCall[] {
  return Array.from({ length: chance.integer(1, 4) }, (_, at) =>
    callOn(chance.pick(members), {
      mentions: chance.chance(0.3) ? [chance.pick(members)] : [],
      inputs: at > 0 && chance.chance(0.3) ? [`d${at}`] : [],
    }),
  );
}

function holdsAlways(check: (moment: Moment, game: Game) => void): void {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const moment of play(game)) check(moment, game);
    }),
    property,
  );
}

it('SC1: never more at work than allowed, and one without allow_parallel', () => {
  holdsAlways(({ state }, { parallel, cap }) => {
    expect(running(state).length).toBeLessThanOrEqual(parallel ? cap : 1);
  });
});

it('SC2: what starts has everything over that it comes after', () => {
  holdsAlways(({ state: { tasks }, start }) => {
    const over = tasks.entries.filter((task) => hasEnded(task.state));
    const ids = over.map(({ delegation_id }) => delegation_id);
    for (const task of tasks.entries.filter((one) => start.includes(one.delegation_id)))
      expect(ids).toEqual(expect.arrayContaining([...task.after]));
  });
});

it('SC7: without a result that it needs, a task does not start', () => {
  holdsAlways(({ state: { tasks } }) => {
    for (const { state, depends_on, reason } of tasks.entries) {
      const isLost = tasks.entries.some(
        (one) =>
          depends_on.includes(one.delegation_id) &&
          hasEnded(one.state) &&
          one.state !== 'completed',
      );
      if (!isLost) continue;
      expect(state).toBe('skipped');
      expect(reason).not.toBe('');
    }
  });
});

it('SC7: the reason names the task by the name that its leader gave it', () => {
  const calls = [callOn('ann', { name: 'facts' }), callOn('bob', { inputs: ['facts'] })];
  const given = step(admitCalls(teamOf(), calls, 0).state, { type: 'resume' }, 0);
  const { tasks } = step(given.state, fails('design.facts'), 0).state;
  expect(tasks.entries[1]).toMatchObject({ state: 'skipped', reason: 'facts failed' });
});

it('SC9: while something is pending, something is at work', () => {
  holdsAlways(({ state }) => {
    expect(isScheduleDone(state.tasks) || running(state).length > 0).toBe(true);
  });
});

it('SC12: halted, as when the team has ended, nothing is pending and nothing starts', () => {
  holdsAlways(({ state, now }) => {
    const halted = step(state, { type: 'halt', reason: 'the time is over' }, now);
    expect(halted.state.tasks.entries.some((task) => task.state === 'pending')).toBe(false);
    for (const { delegation_id } of running(halted.state))
      expect(step(halted.state, fails(delegation_id), now).start).toEqual([]);
  });
});

function fails(delegation_id = ''): Extract<TaskEvent, { type: 'ended' }> {
  return { type: 'ended', delegation_id, status: 'failed', reason: 'no', leaves_unmet: false };
}

it('SC11: the third failure in a row opens the breaker, and what waits for that member says so', () => {
  const { breakerFailuresMax } = engineLimits;
  const calls = Array.from({ length: breakerFailuresMax + 1 }, () => callOn('ann'));
  const given = admitCalls(teamOf({ allow_parallel: false }), calls, 0);
  let { state } = step(given.state, { type: 'resume' }, 0);
  for (let n = 0; n < breakerFailuresMax; n += 1)
    ({ state } = step(state, fails(running(state)[0]?.delegation_id), 0));
  expect(state.tasks.entries.at(-1)).toMatchObject({
    state: 'skipped',
    reason: '"ann" failed 3 times in a row and gets no tasks for a while',
  });
});

/** One reply of tasks for `ann`, one after the other, that end like this; and another call of hers. */
function endWith(...statuses: readonly TaskStatus[]) {
  const calls = statuses.map(() => callOn('ann'));
  const given = admitCalls(teamOf({ allow_parallel: false }), calls, 0);
  let { state } = step(given.state, { type: 'resume' }, 0);
  for (const [n, status] of statuses.entries()) {
    const delegation_id = given.tasks[n]?.delegation_id ?? '';
    ({ state } = step(state, { ...fails(delegation_id), status }, 0));
  }
  return admitCalls(state, [callOn('ann')], 0);
}

it('SC11, BR3: a success between failures begins anew; a stopped task has neither failed nor succeeded', () => {
  expect(endWith('failed', 'timed_out', 'completed', 'failed', 'failed').tasks).toHaveLength(1);
  expect(endWith('failed', 'timed_out', 'stopped').tasks).toHaveLength(1);
  expect(endWith('failed', 'timed_out', 'stopped', 'failed').tasks).toHaveLength(0);
});

it('BR3: a task that hangs until the rest is over does not extend the rest that others brought about', () => {
  const { breakerFailuresMax } = engineLimits;
  const calls = Array.from({ length: breakerFailuresMax + 1 }, () => callOn('ann'));
  const given = admitCalls(teamOf({ max_parallel: calls.length }), calls, 0);
  const [first = '', ...ids] = given.tasks.map(({ delegation_id }) => delegation_id);
  const { state } = step(given.state, { type: 'resume' }, 0);
  const rests = ids.reduce((before, id) => step(before, fails(id), 10).state, state);
  const resting = breakerOf(rests.tasks, 'ann');
  const late = (resting.open_until_ms ?? 0) + 1_000;
  const after = breakerOf(step(rests, fails(first), late).state.tasks, 'ann');
  expect(after).toEqual({ ...resting, failures: calls.length });
  expect(readBreaker(after, late)).toBe('trial');
});

it("SC11: a trial waits for its own member's tasks, and for no others", () => {
  const open = endWith('failed', 'failed', 'failed');
  const later = 1e9;
  const busy = admitCalls(open.state, [callOn('bob')], later);
  const tasks = { ...busy.state.tasks, max_parallel: 3 };
  const setup = { ...busy.state.setup, allow_parallel: true };
  const { state } = step({ ...busy.state, setup, tasks }, { type: 'resume' }, later);
  const paused = step(state, { type: 'pause' }, later).state;
  const trial = admitCalls(paused, [callOn('ann'), callOn('ann')], later);
  expect(trial.refused).toEqual([]);
  const [first, second] = step(trial.state, { type: 'resume' }, later).start;
  expect([first, second]).toEqual([trial.tasks[0]?.delegation_id, undefined]);
});

it('BR3: a trial that begins after the rest and fails opens the breaker again', () => {
  const { state, tasks } = endWith('failed', 'failed', 'failed');
  expect(tasks).toEqual([]);
  const later = breakerOf(state.tasks, 'ann').open_until_ms ?? 0;
  const paused = step(state, { type: 'pause' }, later).state;
  const trial = admitCalls(paused, [callOn('ann')], later);
  const begun = step(trial.state, { type: 'resume' }, later);
  const after = step(begun.state, fails(begun.start[0]), later).state.tasks;
  expect(readBreaker(breakerOf(after, 'ann'), later)).toBe('open');
});

it('a further attempt is counted only for a running task', () => {
  const given = admitCalls(teamOf({ allow_parallel: false }), [callOn('ann'), callOn('bob')], 0);
  const { state } = step(given.state, { type: 'resume' }, 0);
  const again = given.tasks.reduce(
    (before, { delegation_id }) => step(before, { type: 'retried', delegation_id }, 0).state,
    state,
  );
  expect(again.tasks.entries.map(({ attempts }) => attempts)).toEqual([2, 0]);
});

it('a member may be called like something that every object has', () => {
  const team = teamOf({ members: [teamSeat('constructor')] });
  const { refused, state } = admitCalls(team, [callOn('constructor')], 0);
  expect(refused).toEqual([]);
  expect(readBreaker(breakerOf(state.tasks, 'constructor'), 0)).toBe('closed');
});
