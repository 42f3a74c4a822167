import type { DelegationOutcome } from '../../../../contracts/delegation-run.ts';
import type { TeamOutcome } from '../../../../contracts/team-run.ts';
import type { TriadJudgement } from '../../../../contracts/verification.ts';
import { engineLimits } from '../../../../core/limits.ts';
import { addUsage, noUsage } from '../../../../core/usage/add-usage.ts';
import {
  concludeVerification,
  failuresOf,
  feedbackOf,
  mustAskUser,
  noteAnswer,
  noteResult,
  noteAttempt,
  noteGivenUp,
  noteOnTeam,
  noteUse,
  openVerification,
} from '../../../../core/verification/step-verification.ts';
import { describeAbandoned } from '../../../../core/verification/verification-question.ts';
import { someRef, usageOf } from '../../../support/factories.ts';

const outcome: DelegationOutcome = {
  delegation_id: 'd1',
  agent_id: 'writer',
  title: 'Task d1',
  status: 'completed',
  reason: '',
  output_ref: someRef,
  criteria_met: ['c1'],
  criteria_unmet: ['c2'],
  produces: [],
  loaded_details: [],
  executor: { kind: 'agent' },
  turns: 1,
  usage: usageOf(1),
};

const refOf = (n: number): string => String(n).padStart(64, '0');

/** State after so many failures in a row. */
function failTimes(count: number, state = openVerification()) {
  return Array.from({ length: count }, (_, i) => i + 1).reduce(
    (before, n) =>
      noteResult(before, 'fail', { results_ref: refOf(n), output_ref: refOf(100 + n) }),
    state,
  );
}

/** Judgement of a triad, with an attempt at a phase that was not the last. */
const judgementOf = (n: number): TriadJudgement => ({
  delegation_id: `d1.verify-${n}`,
  plan_ref: refOf(200 + n),
  executor: {
    kind: 'triad',
    work: {
      type: 'dialectic',
      reason: 'A test.',
      members: [],
      phases: ([1, 2] as const).map((attempt) => ({
        phase: 'deliberate',
        attempt,
        status: attempt === 1 ? 'failed' : 'done',
        rounds: 1,
        report_ref: refOf(300 + 10 * n + attempt),
      })),
      dissent: [],
      failure: null,
    },
  },
});

it('VE5: each judgement of a triad keeps the pages of those before it', () => {
  const judged = [1, 2, 3].reduce(
    (state, n) =>
      noteResult(state, n < 3 ? 'fail' : 'pass', {
        results_ref: refOf(n),
        output_ref: someRef,
        judgement: judgementOf(n),
      }),
    openVerification(),
  );
  const end = { verified_by: 'tester', status: 'verified', reason: '' } as const;
  expect(concludeVerification(outcome, judged, end).verification).toMatchObject({
    judgement: judgementOf(3),
    earlier_judgements: [1, 2].map((n) => ({
      delegation_id: `d1.verify-${n}`,
      plan_ref: refOf(200 + n),
      phases: [{ phase: 'deliberate', report_ref: refOf(302 + 10 * n) }],
    })),
  });
  // A check of code that failed judges nothing together.
  const failed = noteResult(judged, 'fail', { results_ref: refOf(4), output_ref: someRef });
  expect(failed.earlier_judgements).toHaveLength(2);
});

const passed = noteResult(failTimes(1), 'pass', { results_ref: refOf(9), output_ref: someRef });

describe('VE1: only an output that passed is verified', () => {
  it('VE1: an output that a verifier passed keeps its criteria', () => {
    const end = { verified_by: 'tester', status: 'verified', reason: '' } as const;
    expect(concludeVerification(outcome, passed, end)).toMatchObject({
      status: 'completed',
      criteria_met: ['c1'],
      criteria_unmet: ['c2'],
      verification: {
        verified_by: 'tester',
        status: 'verified',
        attempts: 2,
        results_refs: [refOf(1), refOf(9)],
        output_ref: someRef,
      },
    });
  });

  it.each([
    ['abandoned', undefined, 'completed', 'failed', 'abandoned'],
    ['unverified', undefined, 'completed', 'failed', 'unverified'],
    ['unverified', 'stopped', 'completed', 'stopped', 'unverified'],
    ['verified', 'failed', 'failed', 'failed', 'unverified'],
  ] as const)(
    'VE1: %s (%s) of a %s attempt meets no criterion',
    (status, ended, worked, whole, verification) => {
      const end = {
        verified_by: 'tester',
        status,
        reason: 'why',
        ...(ended !== undefined && { ended }),
      };
      expect(concludeVerification({ ...outcome, status: worked }, failTimes(1), end)).toMatchObject(
        {
          status: whole,
          reason: 'why',
          criteria_met: [],
          criteria_unmet: ['c1', 'c2'],
          verification: { status: verification, output_ref: null },
        },
      );
    },
  );
});

it('VE2: the user is asked after the last allowed failure, and not before', () => {
  expect(feedbackOf(openVerification())).toBeUndefined();
  for (let n = 1; n <= engineLimits.verificationsMax; n += 1) {
    const state = failTimes(n);
    expect(mustAskUser(state)).toBe(n === engineLimits.verificationsMax);
    expect(feedbackOf(state)).toEqual({
      results_ref: refOf(n),
      output_ref: refOf(100 + n),
      instructions_ref: null,
      guidance_refs: [],
    });
  }
});

it('VE7: an attempt that was given up is no verification; the next one is told the reason and what the user said', () => {
  const given = noteGivenUp(openVerification(), refOf(1));
  expect(given).toMatchObject({ attempts: 0, failures: 0 });
  expect(failuresOf(given)).toMatchObject({ results_refs: [refOf(1)], gave_up: true });
  const guided = noteAnswer(given, 'guide', refOf(8));
  expect(feedbackOf(guided)).toEqual({
    results_ref: refOf(1),
    output_ref: null,
    instructions_ref: null,
    guidance_refs: [refOf(8)],
    gave_up: true,
  });
  const refs = { results_ref: refOf(2), output_ref: refOf(102) };
  expect(feedbackOf(noteResult(guided, 'pass', refs))).toBeUndefined();
  const failed = noteResult(guided, 'fail', refs);
  expect(feedbackOf(failed)).toMatchObject({ output_ref: refOf(102) });
  expect(failuresOf(failed)).not.toHaveProperty('gave_up');
});

it('VE7: the output that failed before is told with its own results, however often it is given up afterwards', () => {
  const failed = failTimes(2);
  const given = noteGivenUp(noteGivenUp(failed, refOf(3)), refOf(4));
  expect(feedbackOf(given)).toMatchObject({
    results_ref: refOf(4),
    output_ref: refOf(102),
    gave_up: true,
    failed_results_ref: refOf(2),
  });
  expect(failuresOf(given)).toMatchObject({ output_ref: refOf(102), gave_up: true });
  const next = noteResult(given, 'fail', { results_ref: refOf(5), output_ref: refOf(105) });
  expect(feedbackOf(next)).not.toHaveProperty('failed_results_ref');
});

it('VE2: failures before a pass are not counted again', () => {
  expect(feedbackOf(passed)).toBeUndefined();
  expect(mustAskUser(failTimes(engineLimits.verificationsMax - 1, passed))).toBe(false);
  expect(mustAskUser(failTimes(engineLimits.verificationsMax, passed))).toBe(true);
});

it.each([
  ['guide', null, [refOf(7), refOf(8)]],
  ['modify', refOf(8), []],
] as const)('VE3: %s allows as many failures again', (choice, instructions, guidance) => {
  const max = engineLimits.verificationsMax;
  const guided = noteAnswer(failTimes(max), 'guide', refOf(7));
  const state = noteAnswer(guided, choice, refOf(8));
  expect(mustAskUser(state)).toBe(false);
  expect(feedbackOf(state)).toMatchObject({
    instructions_ref: instructions,
    guidance_refs: guidance,
  });
  expect(mustAskUser(failTimes(max - 1, state))).toBe(false);
  expect(mustAskUser(failTimes(max, state))).toBe(true);
  expect(failTimes(max, state).attempts).toBe(2 * max);
});

it.each([
  ['user', "It was abandoned by the user's answer to q1, after 5 verifications."],
  ['default', 'It was abandoned after 5 verifications.'],
])('the reason names the answer of a person, and not that of a %s', (answered_by, reason) => {
  expect(describeAbandoned(5, { question_id: 'q1', answered_by }).reason).toBe(reason);
});

it('the end of a task that was given up before any verification names none', () => {
  const told = { question_id: 'q1', answered_by: 'user' };
  expect(describeAbandoned(0, told).reason).toBe("It was abandoned by the user's answer to q1.");
  expect(describeAbandoned(0, undefined).reason).toBe('It was abandoned.');
});

it('VE3: an abandoned task ends as failed', () => {
  const end = { verified_by: 'tester', status: 'abandoned', reason: 'given up' } as const;
  expect(concludeVerification(outcome, failTimes(5), end)).toMatchObject({
    status: 'failed',
    verification: { status: 'abandoned', attempts: 5 },
  });
});

it('VE6: the work of a team stays, with what its leader used to mend the answer and what was noted on it', () => {
  const work: TeamOutcome = {
    team_id: 'desk',
    leader: { agent_id: 'leader', turns: 2, usage: usageOf(2) },
    members: [],
    tasks: { completed: 1, failed: 0, timed_out: 0, stopped: 0, skipped: 0 },
    partial: false,
    notes: ['one'],
    report_ref: someRef,
  };
  const first = noteAttempt(openVerification(), {
    ...outcome,
    executor: { kind: 'team', work },
  });
  const mended: DelegationOutcome = {
    ...outcome,
    turns: 1,
    usage: usageOf(1),
    executor: { kind: 'team', work: null },
  };
  const state = noteOnTeam(noteAttempt(first, mended), 'two');
  const end = { verified_by: 'reviewer', status: 'verified', reason: '' } as const;
  expect(concludeVerification(mended, state, end).executor).toEqual({
    kind: 'team',
    work: {
      ...work,
      leader: { agent_id: 'leader', turns: 3, usage: addUsage(usageOf(2), usageOf(1)) },
      notes: ['one', 'two'],
    },
  });
  // An agent has no work of others.
  expect(noteAttempt(openVerification(), outcome)).not.toHaveProperty('executor');
});

it('VE4: the use of all attempts and verifiers is in the outcome', () => {
  const work = { usage: usageOf(2), turns: 2, loaded_details: ['d0', 'd2'] };
  const used = noteUse(
    noteUse(noteUse(openVerification(), work), { usage: usageOf(1), turns: 1 }),
    { ...work, loaded_details: ['d2', 'd3'] },
  );
  const { usage } = concludeVerification(outcome, used, {
    verified_by: 'tester',
    status: 'unverified',
    reason: '',
  });
  expect(used).toMatchObject({ turns: 5, loaded_details: ['d0', 'd2', 'd3'] });
  expect(usage).toEqual({ ...noUsage, ...usageOf(5) });
});

it('VE4: results of many attempts stay few in history, and their count is whole', () => {
  const state = failTimes(25);
  expect(state.attempts).toBe(25);
  expect(state.results_refs).toHaveLength(20);
  expect(state.results_refs.at(-1)).toBe(refOf(25));
});
