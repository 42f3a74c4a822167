import * as fc from 'fast-check';
import { chooseMember, fingerprintTask } from '../../../core/team/draft-calls.ts';
import type { TeamState } from '../../../core/team/team-state.ts';
import { viewTeam, boundReport, boundTeam, sumTeamUsage } from '../../../core/team/team-state.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import { noUsage, addUsage } from '../../../core/usage/add-usage.ts';
import { answererNames } from '../../../contracts/names.ts';
import {
  teamSeat,
  failedTask,
  taskRecord,
  teamOutcome,
  teamReport,
  teamSetup,
} from '../../support/team-fixtures.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property, ref } from './builders.ts';
import { guardQuestion, mayPassGuard } from '../../../core/team/resolve-team.ts';
import type { TaskRecord, TaskStatus, TeamReport } from '../../../contracts/team-run.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { engineLimits } from '../../../core/limits.ts';
import { reportBytesMax, teamBytesMax, triadBytesMax } from '../../../core/record-sizes.ts';
import { readEnd } from '../../../core/executor.ts';
import { usageOf } from '../../support/factories.ts';

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

const { teamMembersMax, teamDelegationsMax, refusalsKeptMax } = engineLimits;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const slug = (start: string): string => start.padEnd(40, 'x');
/** No control characters: they are six bytes each in JSON, and no limit of this product counts them so. */
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'é', '中', '😀'), maxLength, size: 'max' });
const count = fc.integer({ min: 0, max: 10_000_000_000 });
const calls = fc.integer({ min: 0, max: 99_999 });
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  calls,
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
  cost_micro_usd: count,
  unpriced_calls: calls,
  unreported_calls: calls,
  unreported_tokens: count,
  unreported_cost_micro_usd: count,
});
const anyStatus = fc.constantFrom<TaskStatus[]>(
  'completed',
  'failed',
  'timed_out',
  'stopped',
  'skipped',
);

const memberIds = Array.from({ length: teamMembersMax }, (_, at) => slug(`m${at}-`));
const members = memberIds.map((id) =>
  teamSeat(id, {
    executor: { kind: 'triad', type: 'hierarchical' },
    executor_id: `triad:hierarchical:${[id, id, id].join(',')}`,
    capabilities: Array.from({ length: 20 }, () => '中'.repeat(120)),
  }),
);

const anyTask: fc.Arbitrary<TaskRecord> = fc
  .record({ member_id: fc.constantFrom(...memberIds), status: anyStatus, usage: anyUsage })
  .map((over) => taskRecord('d1', over));

const anyReport: fc.Arbitrary<TeamReport> = fc
  .record({
    seats: fc.integer({ min: 1, max: teamMembersMax }),
    team_id: fc.constantFrom(null, slug('team-')),
    tasks: fc.array(anyTask, { maxLength: 12 }),
    notes: fc.array(text(1_000), { maxLength: 20 }),
    leader: fc.record({ turns: calls, usage: anyUsage }),
    status: fc.constantFrom('done' as const, 'timed_out' as const),
  })
  .map(({ seats, team_id, tasks, ...rest }) => ({
    ...teamReport(rest),
    setup: teamSetup({ team_id, leader: slug('l'), members: members.slice(0, seats) }),
    tasks: tasks.filter(({ member_id }) => memberIds.indexOf(member_id) < seats),
  }));

it('TO1: what travels of a team is bounded, whatever was written in it', () => {
  const largest = fc.sample(anyReport, { ...property, numRuns: 1_000 });
  // The bound is one that something passes.
  expect(Math.max(...largest.map(bytesOf))).toBeGreaterThan(teamBytesMax(engineLimits));
  fc.assert(
    fc.property(anyReport, (report) => {
      expect(bytesOf(boundTeam(report, ref))).toBeLessThanOrEqual(teamBytesMax(engineLimits));
    }),
    property,
  );
});

it('TO1: the first notes travel', () => {
  const notes = Array.from({ length: 9 }, (_, n) => `note ${n}`);
  expect(teamOutcome(teamReport({ notes })).notes).toEqual(
    notes.slice(0, engineLimits.teamNotesMax),
  );
});

it('TO2: leader and members together used what leader and tasks used', () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const bound = boundTeam(report, ref);
      const whole = addUsage(report.leader.usage, ...report.tasks.map(({ usage }) => usage));
      expect(sumTeamUsage(bound)).toEqual(whole);
      expect(bound.members.map(({ member_id }) => member_id)).toEqual(
        report.setup.members.map(({ member_id }) => member_id),
      );
      const given = bound.members.reduce((sum, { delegations }) => sum + delegations, 0);
      const ended = Object.values(bound.tasks).reduce((sum, many) => sum + many, 0);
      expect([given, ended]).toEqual([report.tasks.length, report.tasks.length]);
    }),
    property,
  );
});

/** Everything as long as its schema or its bound allows, each task done by a team as large as this one. */
function largestReport(): TeamReport {
  const long = '中'.repeat(5_000);
  const id = (n: number): string => `${slug('a')}.${slug('b')}.${slug('c')}.${slug(`t${n}-`)}`;
  const many = { ...usageOf(1), input_tokens: 9_999_999_999, cost_micro_usd: 99_999_999_999 };
  const setup = teamSetup({ team_id: slug('t'), leader: slug('l'), members });
  const nested = teamOutcome(
    teamReport({
      setup,
      notes: Array.from({ length: 9 }, () => long),
      leader: { turns: 9, usage: many },
    }),
  );
  return teamReport({
    setup,
    status: 'timed_out',
    reason: long,
    tasks: Array.from({ length: teamDelegationsMax }, (_, n) =>
      taskRecord('d', {
        delegation_id: id(n),
        member_id: slug('m0-'),
        title: '中'.repeat(120),
        inputs: Array.from({ length: teamDelegationsMax }, (_input, m) => id(m)),
        status: 'failed',
        reason: long,
        partial_ref: ref,
        usage: many,
        executor: { kind: 'team', work: nested },
      }),
    ),
    refused: Array.from({ length: 2 * refusalsKeptMax }, () => ({
      member_id: '中'.repeat(120),
      reason: long,
    })),
    notes: Array.from({ length: 2 * refusalsKeptMax }, () => long),
  });
}

it('TO3: a report stays below what limits.ts counts with, and keeps every task with its reason', () => {
  const report = largestReport();
  const executor = Math.max(triadBytesMax(engineLimits), teamBytesMax(engineLimits));
  const max = reportBytesMax(engineLimits, executor);
  const bound = boundReport(report);
  expect(bytesOf(report)).toBeGreaterThan(max);
  expect(bytesOf(bound)).toBeLessThanOrEqual(max);
  expect(bound.tasks.map(({ delegation_id }) => delegation_id)).toEqual(
    report.tasks.map(({ delegation_id }) => delegation_id),
  );
  expect(bound.tasks.filter(({ reason }) => reason === '')).toEqual([]);
  expect(bound.refused).toHaveLength(refusalsKeptMax);
  expect(boundReport(bound)).toEqual(bound);
});

it('TO3: a report that is small enough is kept as it is', () => {
  const report = teamReport({ tasks: [taskRecord('d1'), failedTask('d2', 'timed_out')] });
  expect(boundReport(report)).toEqual(report);
});

const mixed = [taskRecord('d1'), failedTask('d2', 'failed')];

it.each([
  ['done, every task completed', {}, false],
  ['done after a call was refused', { refused: [{ member_id: 'x', reason: 'Unknown.' }] }, false],
  ['at its limit, with no call too many', { setup: teamSetup({ max_delegations: 1 }) }, false],
  ['with a task that failed beside one that did not', { tasks: mixed }, true],
  ['timed out', { status: 'timed_out' }, true],
  ['without a task that failed', { tasks: [failedTask('d1', 'failed')] }, true],
  [
    'refused what was over its limit',
    {
      setup: teamSetup({ max_delegations: 1 }),
      refused: [{ member_id: 'writer', reason: 'No delegation is left.' }],
    },
    true,
  ],
] as const)('TO4: a team that is %s says whether it is partial', (_, over, partial) => {
  expect(teamOutcome(teamReport(over)).partial).toBe(partial);
});

it('the planner is told that a team did it, how its tasks ended, and where its report is', () => {
  const team = teamOutcome(teamReport({ tasks: [failedTask('d1', 'timed_out')] }));
  expect(readEnd({ kind: 'agent' })).toBeNull();
  expect(readEnd({ kind: 'team', work: null })).toBeNull();
  expect(readEnd({ kind: 'team', work: team })).toEqual({
    kind: 'team',
    team_id: null,
    tasks: team.tasks,
    partial: true,
    report_ref: team.report_ref,
  });
});
