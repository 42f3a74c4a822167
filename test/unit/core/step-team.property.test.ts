import * as fc from 'fast-check';
import type { TaskStatus } from '../../../contracts/team-run.ts';
import { engineLimits } from '../../../core/limits.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import { readBreaker } from '../../../core/team/breaker.ts';
import { isTeamIdle, stepTeam } from '../../../core/team/step-team.ts';
import type { TeamEvent, TeamStep } from '../../../core/team/step-team.ts';
import { breakerOf, isOver } from '../../../core/team/team-state.ts';
import type { TeamState } from '../../../core/team/team-state.ts';
import { createPrng } from '../../support/prng.ts';
import type { Prng } from '../../support/prng.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property as everyProperty } from './builders.ts';

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

interface Moment {
  readonly before: TeamState;
  readonly event: TeamEvent;
  readonly now: number;
  readonly step: TeamStep;
}

const members = ['ann', 'bob', 'cy'];
const ends: readonly TaskStatus[] = ['failed', 'timed_out', 'stopped'];

/** Replies of a leader, members who fail now and then, and time that passes, until nothing is at work. */
function play({ seed, parallel, cap, failing }: Game): Moment[] {
  const chance = createPrng(seed);
  const moments: Moment[] = [];
  let now = 0;
  let state = teamOf({ allow_parallel: parallel, max_parallel: cap, max_delegations: 12 });
  const on = (event: TeamEvent): void => {
    const step = stepTeam(state, event, now);
    moments.push({ before: state, event, now, step });
    ({ state } = step);
  };
  for (let reply = 0; reply < 3; reply += 1) {
    state = admitCalls(state, callsOf(chance), now).state;
    on({ type: 'given' });
    for (let left = 100; left > 0 && !isTeamIdle(state); left -= 1) {
      now += chance.integer(0, 40_000);
      const atWork = state.tasks.filter((task) => task.state === 'running');
      if (atWork.length === 0) return moments;
      const { delegation_id } = chance.pick(atWork);
      const status = chance.chance(failing) ? chance.pick(ends) : 'completed';
      const has_output = status === 'completed';
      const reason = has_output ? '' : 'why';
      on({ type: 'ended', delegation_id, status, reason, has_output, worked_ms: 0 });
    }
  }
  return moments;
}

function callsOf(chance: Prng) {
  return Array.from({ length: chance.integer(1, 4) }, (_, at) =>
    callOn(chance.pick(members), {
      mentions: chance.chance(0.3) ? [chance.pick(members)] : [],
      inputs: at > 0 && chance.chance(0.3) ? [`d${at}`] : [],
    }),
  );
}

const running = (state: TeamState) => state.tasks.filter((task) => task.state === 'running');

it('STM1: never more at work than allowed', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      const cap = game.parallel ? game.cap : 1;
      for (const { step } of play(game))
        expect(running(step.state).length).toBeLessThanOrEqual(cap);
    }),
    property,
  );
});

it('STM2: what starts has everything over that it comes after', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { step } of play(game)) {
        const over = new Set(step.state.tasks.filter(isOver).map((task) => task.delegation_id));
        for (const id of step.start) {
          const task = step.state.tasks.find((one) => one.delegation_id === id);
          expect(task?.after.every((one) => over.has(one))).toBe(true);
        }
      }
    }),
    property,
  );
});

it('STM3: without a result that it needs, a task does not start', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { step } of play(game)) {
        for (const { state, needs, reason } of step.state.tasks) {
          const lost = step.state.tasks.some(
            (one) => needs.includes(one.delegation_id) && isOver(one) && !one.has_output,
          );
          if (!lost) continue;
          expect(state).toBe('not_started');
          expect(reason).not.toBe('');
        }
      }
    }),
    property,
  );
});

it('STM4: nobody starts while the breaker is open', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { step, now } of play(game)) {
        for (const id of step.start) {
          const task = step.state.tasks.find((one) => one.delegation_id === id);
          expect(readBreaker(breakerOf(step.state, task?.member_id ?? ''), now)).not.toBe('open');
        }
      }
    }),
    property,
  );
});

it('STM5: closed, nothing starts and nothing is pending', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { before, now } of play(game)) {
        const closed = stepTeam(before, { type: 'closed', reason: 'the time is over' }, now).state;
        expect(closed.tasks.some((task) => task.state === 'pending')).toBe(false);
        for (const { delegation_id } of running(closed)) {
          const end = {
            type: 'ended',
            status: 'timed_out',
            reason: '',
            has_output: false,
            worked_ms: 0,
          } as const;
          expect(stepTeam(closed, { ...end, delegation_id }, now).start).toEqual([]);
        }
      }
    }),
    property,
  );
});

it('STM6: what is over stays as it ended', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { before, step } of play(game)) {
        for (const task of before.tasks.filter(isOver)) {
          expect(step.state.tasks).toContainEqual(task);
          const late = { ...task, type: 'ended', status: 'failed', worked_ms: 0 } as const;
          expect(stepTeam(before, late, 0).state).toEqual(before);
        }
      }
    }),
    property,
  );
});

it('STM7: while something is pending, something is at work', () => {
  fc.assert(
    fc.property(anyGame, (game) => {
      for (const { step } of play(game)) {
        expect(isTeamIdle(step.state) || running(step.state).length > 0).toBe(true);
      }
    }),
    property,
  );
});

/** @param worked_ms Milliseconds of work since it began. */
function fails(delegation_id = '', worked_ms = 0): Extract<TeamEvent, { type: 'ended' }> {
  const end = { type: 'ended', status: 'failed', reason: 'no', has_output: false } as const;
  return { ...end, delegation_id, worked_ms };
}

it('STM4: the third failure in a row opens the breaker, and what waits for that member says so', () => {
  const { breakerFailuresMax } = engineLimits;
  const calls = Array.from({ length: breakerFailuresMax + 1 }, () => callOn('ann'));
  let state = admitCalls(teamOf({ allow_parallel: false }), calls, 0).state;
  ({ state } = stepTeam(state, { type: 'given' }, 0));
  for (let n = 0; n < breakerFailuresMax; n += 1) {
    const [task] = running(state);
    ({ state } = stepTeam(state, fails(task?.delegation_id), 0));
  }
  expect(state.tasks.at(-1)).toMatchObject({
    state: 'not_started',
    reason: '"ann" failed 3 times in a row and gets no tasks for a while',
  });
});

/** One reply of three tasks for `ann`, one after the other, that end like this; and another call of hers. */
function endWith(...statuses: readonly TaskStatus[]) {
  const calls = statuses.map(() => callOn('ann'));
  const given = admitCalls(teamOf({ allow_parallel: false }), calls, 0);
  let { state } = stepTeam(given.state, { type: 'given' }, 0);
  for (const [n, status] of statuses.entries()) {
    const delegation_id = given.tasks[n]?.delegation_id ?? '';
    ({ state } = stepTeam(state, { ...fails(delegation_id), status }, 0));
  }
  return admitCalls(state, [callOn('ann')], 0);
}

it('STM4, BR3: a success between failures begins anew; who was stopped has neither failed nor done it', () => {
  expect(endWith('failed', 'timed_out', 'completed', 'failed', 'failed').tasks).toHaveLength(1);
  expect(endWith('failed', 'timed_out', 'stopped').tasks).toHaveLength(1);
  expect(endWith('failed', 'timed_out', 'stopped', 'failed').tasks).toHaveLength(0);
});

it('BR3: a task that hangs until the rest is over, which others have brought about at once, makes it no longer', () => {
  const { breakerFailuresMax } = engineLimits;
  const calls = Array.from({ length: breakerFailuresMax + 1 }, () => callOn('ann'));
  const given = admitCalls(teamOf({ max_parallel: calls.length }), calls, 0);
  const { state } = stepTeam(given.state, { type: 'given' }, 0);
  const ids = given.tasks.map(({ delegation_id }) => delegation_id);
  const rests = ids
    .slice(1)
    .reduce((before, id) => stepTeam(before, fails(id, 10), 10).state, state);
  const resting = breakerOf(rests, 'ann');
  const late = (resting.open_until_ms ?? 0) + 1_000;
  const { state: after } = stepTeam(rests, fails(ids[0], late), late);
  expect(breakerOf(after, 'ann')).toEqual({ ...resting, failures: calls.length });
  expect(readBreaker(breakerOf(after, 'ann'), late)).toBe('trial');
});

it("STM4: a trial waits for its own member's tasks, and for no others", () => {
  const open = endWith('failed', 'failed', 'failed');
  const later = 1e9;
  const busy = admitCalls(open.state, [callOn('bob')], later);
  const parallel = { ...busy.state, setup: { ...busy.state.setup, allow_parallel: true } };
  const { state } = stepTeam(parallel, { type: 'given' }, later);
  const trial = admitCalls(state, [callOn('ann'), callOn('ann')], later);
  expect(trial.refused).toEqual([]);
  const [first, second] = stepTeam(trial.state, { type: 'given' }, later).start;
  expect([first, second]).toEqual([trial.tasks[0]?.delegation_id, undefined]);
});

it('an attempt more is counted for a task at work alone', () => {
  const given = admitCalls(teamOf({ allow_parallel: false }), [callOn('ann'), callOn('bob')], 0);
  const { state } = stepTeam(given.state, { type: 'given' }, 0);
  const again = given.tasks.reduce(
    (before, { delegation_id }) => stepTeam(before, { type: 'retried', delegation_id }, 0).state,
    state,
  );
  expect(again.tasks.map(({ attempts }) => attempts)).toEqual([2, 0]);
});
