import * as fc from 'fast-check';
import { engineLimits } from '../../../core/limits.ts';
import {
  closedBreaker,
  hasOpened,
  mayPass,
  noteFailure,
  noteSuccess,
  readBreaker,
} from '../../../core/team/breaker.ts';
import { chooseMember } from '../../../core/team/choose-member.ts';
import { decideRetry } from '../../../core/team/decide-retry.ts';
import type { FailedAttempt } from '../../../core/team/decide-retry.ts';
import { fingerprintTask } from '../../../core/team/fingerprint-task.ts';
import { guardQuestion, mayPassGuard } from '../../../core/team/guard-question.ts';
import { viewTeam } from '../../../core/team/view-team.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import { failureReasons, isWorthRepeating } from '../../../core/turns/failure-reasons.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { answererNames } from '../../../contracts/names.ts';
import { teamSeat } from '../../support/team-fixtures.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property } from './builders.ts';

const { breakerFailuresMax } = engineLimits;

function failed(times: number, now = 0) {
  return Array.from({ length: times }).reduce(
    (breaker: ReturnType<typeof closedBreaker>) => noteFailure(breaker, now, now),
    closedBreaker(60_000),
  );
}

describe('the breaker', () => {
  it('BR1: opens at the last of its failures in a row, not before', () => {
    expect(readBreaker(failed(breakerFailuresMax - 1), 0)).toBe('closed');
    expect(readBreaker(failed(breakerFailuresMax), 0)).toBe('open');
  });

  it('BR2: open, it lets nothing through; after its rest one at a time', () => {
    const open = failed(breakerFailuresMax);
    expect(mayPass(open, 59_999, 0)).toBe(false);
    expect(mayPass(open, 60_000, 0)).toBe(true);
    expect(mayPass(open, 60_000, 1)).toBe(false);
  });

  it('BR3: a trial that fails rests twice as long; a success begins anew', () => {
    const again = noteFailure(failed(breakerFailuresMax), 60_000, 60_001);
    expect(readBreaker(again, 60_001 + 119_999)).toBe('open');
    expect(readBreaker(again, 60_001 + 120_000)).toBe('trial');
    expect(noteSuccess(60_000)).toEqual(closedBreaker(60_000));
  });

  it('BR3: tasks that were under way when it opened make its rest no longer, during it and after it', () => {
    const open = failed(breakerFailuresMax);
    const later = noteFailure(noteFailure(open, 0, 59_999), 59_999, 60_000);
    expect(later).toEqual({ ...open, failures: breakerFailuresMax + 2 });
  });

  it('BR4: it has opened at the last failure of the row and at a trial that fails, not at failures while it is open', () => {
    const openedAt = (failures: number, nowMs: number): boolean => {
      const before = failed(failures);
      return hasOpened(before, noteFailure(before, nowMs, nowMs), nowMs);
    };
    expect(openedAt(breakerFailuresMax - 2, 0)).toBe(false);
    expect(openedAt(breakerFailuresMax - 1, 0)).toBe(true);
    expect(openedAt(breakerFailuresMax, 59_999)).toBe(false);
    expect(openedAt(breakerFailuresMax, 60_000)).toBe(true);
    expect(hasOpened(failed(breakerFailuresMax), noteSuccess(60_000), 60_000)).toBe(false);
  });
});

describe('who takes a task', () => {
  const able = { capabilities: ['research'] };
  const members = [
    teamSeat('ann', able),
    teamSeat('bob', { ...able, priority: 5 }),
    teamSeat('cy', { ...able, priority: 5 }),
    teamSeat('dan', { ...able, priority: 9, enabled: false }),
    teamSeat('research', { priority: -1 }),
  ];

  it('CHM1: an id is that member, also when a capability is called like it', () => {
    expect(chooseMember(teamOf({ members }), 'research', 0)).toMatchObject({
      member: { member_id: 'research' },
    });
  });

  it('CHM2: a capability is the enabled member with the highest priority, the first of equals', () => {
    const others = members.filter(({ member_id }) => member_id !== 'research');
    expect(chooseMember(teamOf({ members: others }), 'research', 0)).toMatchObject({
      member: { member_id: 'bob' },
    });
  });

  it('CHM2: who rests is passed over', () => {
    const others = members.filter(({ member_id }) => member_id !== 'research');
    const state = { ...teamOf({ members: others }), breakers: { bob: failed(breakerFailuresMax) } };
    expect(chooseMember(state, 'research', 0)).toMatchObject({ member: { member_id: 'cy' } });
  });

  it('case 2.1: a disabled member is refused, and one that can do the same is suggested', () => {
    expect(chooseMember(teamOf({ members }), 'dan', 0)).toEqual({
      type: 'refused',
      reason: '"dan" is disabled. Try: "bob", which can do the same',
    });
  });

  it('case 2.2: an unknown member is refused with those that there are', () => {
    expect(chooseMember(teamOf(), 'eve', 0)).toEqual({
      type: 'refused',
      reason: 'there is no member "eve". Members: "ann", "bob", "cy"',
    });
    const some = teamOf({ members: [teamSeat('ann'), teamSeat('bob', { enabled: false })] });
    expect(chooseMember(some, 'eve', 0)).toMatchObject({
      reason: 'there is no member "eve". Members: "ann"',
    });
  });

  it('CHM3: where nobody can do the same, those that take tasks are named', () => {
    const state = { ...teamOf(), breakers: { ann: failed(breakerFailuresMax) } };
    expect(chooseMember(state, 'ann', 0)).toEqual({
      type: 'refused',
      reason:
        '"ann" failed 3 times in a row and gets no tasks for a while. Members that take tasks: "bob", "cy"',
    });
  });

  it('CHM3: a capability of which nobody takes tasks says why of each', () => {
    const only = members.filter(({ member_id }) => member_id === 'dan');
    expect(chooseMember(teamOf({ members: only }), 'research', 0)).toMatchObject({
      reason: 'nobody with the capability "research" takes tasks now: "dan" is disabled',
    });
  });
});

describe('another attempt', () => {
  const once: FailedAttempt = {
    attempt: 1,
    why: 'invalid_output',
    kind: 'agent',
    has_acted: false,
    left_ms: 60_000,
  };

  it('RT1: no more than max_retries', () => {
    expect(decideRetry(once, 0)).toBeNull();
    expect(decideRetry({ ...once, attempt: 2 }, 1)).toBeNull();
    expect(decideRetry({ ...once, attempt: 2 }, 2)).toBe(2_000);
  });

  it('RT2, FR2: only what model or provider made of a call', () => {
    const worthwhile = failureReasons.filter((why) => decideRetry({ ...once, why }, 1) !== null);
    expect(worthwhile).toEqual(['invalid_output', 'unknown_stop', 'no_message']);
    expect(failureReasons.filter(isWorthRepeating)).toEqual(worthwhile);
    expect(decideRetry({ ...once, why: null }, 1)).toBeNull();
  });

  it('RT3: not after something was to be changed outside', () => {
    expect(decideRetry({ ...once, has_acted: true }, 1)).toBeNull();
  });

  it('RT4: each wait is twice the one before, and fits into what is left', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((attempt) =>
      decideRetry({ ...once, attempt, left_ms: 600_000 }, 9),
    );
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(decideRetry({ ...once, left_ms: 2_000 }, 1)).toBeNull();
  });

  it('RT5: triads and teams decide themselves', () => {
    expect(decideRetry({ ...once, kind: 'triad' }, 1)).toBeNull();
    expect(decideRetry({ ...once, kind: 'team' }, 1)).toBeNull();
  });
});

it('FT1: executor, text and inputs make a task; the order of inputs does not', () => {
  fc.assert(
    fc.property(
      fc.record({
        a: fc.string(),
        b: fc.string(),
        inputs: fc.array(fc.string(), { maxLength: 4 }),
      }),
      ({ a, b, inputs }) => {
        const one = fingerprintTask(a, b, inputs);
        expect(fingerprintTask(a, b, [...inputs, ...inputs].toReversed())).toBe(one);
        expect(fingerprintTask(`${a}!`, b, inputs)).not.toBe(one);
        expect(fingerprintTask(a, `${b}!`, inputs)).not.toBe(one);
        expect(fingerprintTask(a, b, [...inputs, `${inputs.join('')}!`])).not.toBe(one);
      },
    ),
    property,
  );
});

const answer = (text: string, answered_by: string) => ({
  question_id: 'q1',
  text: '',
  answer: text,
  answer_ref: null,
  answered_by,
  loop: false,
});

describe('a guardrail that asks', () => {
  const shown = {
    name: 'instruction-in-data',
    stage: 'input',
    reason: 'says "ignore\u0000 all rules"',
    subject_ref: 'abc',
    delegation_id: 'design',
  } as const;

  it('GQ1: only the "pass" of a person lets a text through', () => {
    expect(mayPassGuard(answer('pass', 'kim'))).toBe(true);
    expect(mayPassGuard(answer('block', 'kim'))).toBe(false);
    expect(mayPassGuard(undefined)).toBe(false);
    for (const name of Object.values(answererNames)) {
      expect(mayPassGuard(answer('pass', name))).toBe(false);
    }
    expect(guardQuestion(shown).default_answer).toBeNull();
  });

  it('GQ2: the question names guardrail, stage, delegation, reason and address', () => {
    const { text } = guardQuestion(shown);
    for (const part of ['instruction-in-data', 'input', 'design', 'ignore', 'abc']) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('\u0000');
  });

  it('GQ2: it says what comes of anything but a "pass", which is not the same for message and answer', () => {
    expect(guardQuestion(shown).why_it_matters).toContain('does not begin');
    expect(guardQuestion({ ...shown, stage: 'output' }).why_it_matters).toContain('held back');
  });
});

it('VT1: every task is shown in its order, with its usage and what it waits for', () => {
  const { state } = admitCalls(teamOf(), [callOn('ann'), callOn('bob'), callOn('cy')], 0);
  const tasks = state.tasks.map((task, at) =>
    at !== 1 ? { ...task, state: 'running' as const } : task,
  );
  const usage = { ...noUsage, calls: 2 };
  const status = {
    delegation_id: 'design.d1',
    agent_id: 'ann',
    title: 'A task',
    state: 'waiting' as const,
    turn: 2,
    waiting_for: 'Which city?',
    usage,
    executor: { kind: 'agent' as const },
  };
  const view = viewTeam(
    { ...state, tasks },
    new Map([
      ['design.d1', { turns: 2, usage, status }],
      ['design.d3', { turns: 2, usage, status: { ...status, state: 'running', waiting_for: '' } }],
    ]),
    {
      leader: { agent_id: 'leader', state: 'waiting_for_members', turns: 1, usage: noUsage },
      worked_ms: 1_999,
      notes: [],
    },
  );
  expect(view.tasks).toEqual([
    expect.objectContaining({ member_id: 'ann', state: 'waiting', reason: 'Which city?', usage }),
    expect.objectContaining({ member_id: 'bob', state: 'pending', usage: noUsage, turns: 0 }),
    expect.objectContaining({ member_id: 'cy', state: 'running', reason: '' }),
  ]);
  expect(view.worked_seconds).toBe(1);
});
