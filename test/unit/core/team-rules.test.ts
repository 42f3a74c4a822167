import * as fc from 'fast-check';
import { chooseMember, fingerprintTask } from '../../../core/team/draft-calls.ts';
import type { TeamState } from '../../../core/team/team-state.ts';
import { viewTeam } from '../../../core/team/team-state.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { answererNames } from '../../../contracts/names.ts';
import { teamSeat } from '../../support/team-fixtures.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property } from './builders.ts';
import { guardQuestion, mayPassGuard } from '../../../core/team/resolve-team.ts';

/** A team with a member that rests after three failures. */
function withRest(state: TeamState, memberId: string): TeamState {
  const breakers = { [memberId]: { failures: 3, rests: 1, open_until_ms: 60_000 } };
  return { ...state, tasks: { ...state.tasks, breakers } };
}

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
    const state = withRest(teamOf({ members: others }), 'bob');
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
    const state = withRest(teamOf(), 'ann');
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
  const entries = state.tasks.entries.map((task, at) =>
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
    { ...state, tasks: { ...state.tasks, entries } },
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
