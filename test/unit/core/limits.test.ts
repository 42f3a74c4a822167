import { planRules } from '../../../activities/prompts/common-rules.ts';
import { LimitsInput } from '../../../contracts/limits.ts';
import { plannedDelegation } from '../../support/factories.ts';
import { PlannerWaveInput } from '../../../contracts/planner-wave.ts';
import { TeamPlan } from '../../../contracts/team.ts';
import { limitMaxima } from '../../../contracts/limit-maxima.ts';
import {
  findLimitFaults,
  findSizeFaults,
  findTeamFaults,
  findTriadFaults,
} from '../../../core/check-limits.ts';
import {
  defaultLimits,
  defaultTeam,
  defaultTriad,
  engineLimits,
  resolveLimits,
} from '../../../core/limits.ts';

const waveOf = (count: number): object => ({
  goal: 'Compare.',
  delegations: Array.from({ length: count }, (_, n) => {
    const { executor: _executor, ...typed } = plannedDelegation(`d${n}`);
    return typed;
  }),
});

describe('limits', () => {
  it('L1: the limits as they are fit each other', () => {
    expect(findLimitFaults(engineLimits, defaultLimits)).toEqual([]);
    expect(findSizeFaults(engineLimits, limitMaxima)).toEqual([]);
  });

  it.each([
    ['outputTokensCeiling', { outputTokensCeiling: 20_000 }],
    ['inlineAnswerCharsMax', { inlineAnswerCharsMax: 300_000 }],
    ['shownAnswerCharsMax', { shownAnswerCharsMax: 2_000 }],
    ['answerCharsMax', { answerCharsMax: 2_000_000 }],
    ['sameQuestionMax', { sameQuestionMax: 1 }],
    ['questionsMax', { questionsMax: 5 }],
    ['inboxCharsMax', { inboxCharsMax: 1_000_000 }],
    ['loadedDetailsMax', { loadedDetailsMax: 500 }],
    ['dissentCarriedMax', { dissentCarriedMax: 36 }],
    ['triadTextCharsMax', { triadTextCharsMax: 2_000 }],
    ['teamMembersMax', { teamMembersMax: 40 }],
    ['teamExecutorCharsMax', { teamExecutorCharsMax: 200 }],
    ['teamNotesMax', { teamNotesMax: 50 }],
    ['teamNoteCharsMax', { teamNoteCharsMax: 500 }],
    ['teamDelegationsMax', { teamDelegationsMax: 100 }],
    ['refusalsKeptMax', { refusalsKeptMax: 500 }],
    ['teamReasonCharsMax', { teamReasonCharsMax: 1_000 }],
    ['sectionsMax', { sectionsMax: 20 }],
    ['roundsMax', { roundsMax: 8 }],
    ['turnRecordsMax', { turnRecordsMax: 1_000 }],
    ['stateAnswersCharsMax', { stateAnswersCharsMax: 500_000 }],
    ['detailsBytesMax', { detailsBytesMax: 1_000_000 }],
    ['questionReminderSeconds', { questionReminderSeconds: 0.5 }],
    ['inline_events', { historyEventsWarn: 100 }],
  ])('L1: a contradiction is named: %s', (name, change) => {
    const engine = { ...engineLimits, ...change };
    const faults = [
      ...findLimitFaults(engine, defaultLimits),
      ...findSizeFaults(engine, limitMaxima),
    ];
    expect(faults.join()).toContain(name);
  });

  it('finding T12: a user can set no limit for which the sizes are not proved', () => {
    expect(Object.keys(limitMaxima)).toEqual(Object.keys(defaultLimits));
    for (const [name, max] of Object.entries(limitMaxima)) {
      expect(LimitsInput.safeParse({ [name]: max }).success).toBe(true);
      expect(LimitsInput.safeParse({ [name]: max + 1 }).error?.issues[0]?.message).toContain(
        `${max}`,
      );
    }
    expect(PlannerWaveInput.safeParse(waveOf(limitMaxima.max_delegations)).error).toBeUndefined();
    expect(PlannerWaveInput.safeParse(waveOf(limitMaxima.max_delegations + 1)).success).toBe(false);
  });

  it.each([
    ['round_seconds', { turn_seconds: 2_000 }],
    ['round_seconds', { dispatch_seconds: 4_000 }],
    ['phase_seconds', { phase_seconds: 10_000 }],
  ])('L1: time limits of a triad that can hold no work are named: %s', (name, change) => {
    expect(findTriadFaults(defaultTriad)).toEqual([]);
    expect(findTriadFaults({ ...defaultTriad, ...change }).join()).toContain(name);
  });

  it('finding P8: the default time limits of a team hold whole calls', () => {
    const callSeconds = defaultLimits.max_output_tokens / engineLimits.outputTokensPerSecondMin;
    expect(defaultTeam.member_timeout).toBeGreaterThanOrEqual(Math.max(180, callSeconds));
    expect(defaultTeam.timeout).toBeGreaterThanOrEqual(900);
    expect(findTeamFaults(defaultTeam, engineLimits, defaultLimits)).toEqual([]);
  });

  it('finding P8: what the planner is told of them is true', () => {
    const { timeout, member_timeout } = TeamPlan.shape;
    expect(timeout.description).toContain(`Default ${defaultTeam.timeout}.`);
    expect(member_timeout.description).toContain(`Default ${defaultTeam.member_timeout}.`);
    expect(planRules({ triads: false, teams: true })).toContain(
      `The defaults, ${defaultTeam.timeout} for the team and ${defaultTeam.member_timeout} for a task`,
    );
  });

  it.each([
    ['member_timeout', { member_timeout: 60 }, {}],
    ['member_timeout', {}, { max_output_tokens: 32_000 }],
    ['timeout must', { timeout: 300 }, {}],
  ])('finding P8: time limits of a team that hold no work are named: %s', (name, team, run) => {
    const limits = { ...defaultLimits, ...run };
    const faults = findTeamFaults({ ...defaultTeam, ...team }, engineLimits, limits);
    expect(faults.join()).toContain(name);
  });

  it('L2: what the user sets holds, the rest is the default', () => {
    expect(resolveLimits(undefined)).toEqual(defaultLimits);
    expect(resolveLimits({ max_waves: 2, max_parallel: 1 })).toEqual({
      ...defaultLimits,
      max_waves: 2,
      max_parallel: 1,
    });
  });

  it('L2: output tokens never pass the ceiling', () => {
    expect(resolveLimits({ max_output_tokens: 100_000 }).max_output_tokens).toBe(
      engineLimits.outputTokensCeiling,
    );
  });

  it('L2: every limit that a user may set has a default', () => {
    expect(Object.keys(defaultLimits).toSorted()).toEqual(
      Object.keys(LimitsInput.shape).toSorted(),
    );
  });
});
