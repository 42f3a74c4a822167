/**
 * Checks a team beyond its shape, for teams of people and of the planner (seed 002, cases 5.2 to 5.4).
 *
 * Invariants:
 *   TCK1. A team has between 1 and `teamMembersMax` members, and at least one of them is enabled.
 *   TCK2. Ids of members are unique. They may be another member's capability.
 *   TCK3. A member is one agent of the registry and never the planner, one valid triad, or one existing team.
 *   TCK4. Each limit is a number that a team can work with: at least 1, whole except for seconds, at most its maximum.
 *         Only max_retries may be 0.
 *   TCK5. Leader, model, middlewares and guardrails exist, each of its kind and for its stage.
 *   TCK6. Teams are nested at most `teamDepthMax` deep.
 *   TCK7. All faults are reported at once, each with its path and "Try: …"; unreadable fields are no faults here.
 */
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { defaultTeam, engineLimits } from '../limits.ts';
import { checkAgent } from '../triad/check-triad.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkMember } from './check-member.ts';
import type { TeamContext, TeamDraft } from './team-draft.ts';

/** @param at Prefix of the paths: empty, or ending with a point. */
export function checkTeam(team: TeamDraft, context: TeamContext, at: string): OutputFault[] {
  return [
    ...checkSize(team, context, at),
    ...(team.members ?? []).flatMap((member, i) =>
      checkMember(member, { ...context, within: team.team_id }, `${at}members[${i}]`),
    ),
    ...checkIds(team, at),
    ...checkTeamLimits(team, at),
    ...(team.leader === undefined ? [] : checkAgent(team.leader, `${at}leader`, context.agents)),
    ...checkModel(team, context, at),
    ...checkFunctions(team, context, at),
  ];
}

function checkSize(
  { members, unread = [] }: TeamDraft,
  { agents }: TeamContext,
  at: string,
): OutputFault[] {
  if (unread.includes('members')) return [];
  const path = `${at}members`;
  const max = engineLimits.teamMembersMax;
  const count = members?.length ?? 0;
  if (members === undefined || count === 0) {
    const example = agents.find(({ agent_id }) => agent_id !== plannerAgentId)?.agent_id;
    const reason = 'the team has no members, so nobody could do a task';
    return [{ path, reason, hint: `Try: at least one, as {"id":"${example ?? 'writer'}"}` }];
  }
  if (count > max) {
    const reason = `the team has ${count} members, the limit is ${max}`;
    return [{ path, reason, hint: 'Try: put those who work together into a team of their own' }];
  }
  if (members.some(({ enabled }) => enabled !== false)) return [];
  const reason = 'every member is disabled, so nobody could take a task';
  return [{ path, reason, hint: 'Try: leave "enabled" out where a member is to work' }];
}

function checkIds({ members = [] }: TeamDraft, at: string): OutputFault[] {
  const first = new Map<string, number>();
  return members.flatMap(({ id, bare }, i) => {
    if (id === undefined) return [];
    const before = first.get(id);
    if (before === undefined) {
      first.set(id, i);
      return [];
    }
    return [
      {
        path: `${at}members[${i}]${bare === true ? '' : '.id'}`,
        reason: `"${cutText(id, 60)}" is the id of members[${before}] already`,
        hint: 'Try: an id of its own for each member; who it is may stand in agent_id',
      },
    ];
  });
}

function checkModel({ model }: TeamDraft, context: TeamContext, at: string): OutputFault[] {
  const models = context.leaderModels;
  if (model === undefined || models === null || models.includes(model)) return [];
  return [
    {
      path: `${at}model`,
      reason: `this run knows no model "${cutText(model, 60)}"`,
      hint: `Try: leave it out, for the leader's own, or one of ${listNames(models)}`,
    },
  ];
}

function checkFunctions(team: TeamDraft, context: TeamContext, at: string): OutputFault[] {
  const lists = [
    ['middleware', 'input', 'input_middlewares', team.input_middlewares],
    ['middleware', 'output', 'output_middlewares', team.output_middlewares],
    ['guardrail', 'input', 'guardrails.input', team.guardrails?.input],
    ['guardrail', 'output', 'guardrails.output', team.guardrails?.output],
  ] as const;
  return lists.flatMap(([kind, stage, field, names = []]) => {
    const known = context.middlewares
      .filter((one) => one.kind === kind && one.stages.includes(stage))
      .map(({ name }) => name);
    return names.flatMap((name, i) => {
      if (known.includes(name)) return [];
      const reason = `the worker has no ${kind} "${cutText(name, 60)}" for the ${stage} of a team`;
      const hint =
        known.length === 0
          ? 'Try: leave it out'
          : `Try: leave it out, or one of ${listNames(known)}`;
      return [{ path: `${at}${field}[${i}]`, reason, hint }];
    });
  });
}

interface Range {
  readonly least: number;
  readonly max: number;
  readonly unit: string;
  /** True when fractions are no fault. */
  readonly isContinuous?: true;
}

/** A shorter limit ends a task before its first word, and looking at the clock that often fills a history. */
const secondsMin = 1;

const { teamDelegationsMax, taskRetriesMax, teamSecondsMax } = engineLimits;

const ranges: Readonly<Record<keyof typeof defaultTeam, Range>> = {
  max_parallel: { least: 1, max: teamDelegationsMax, unit: 'members at work' },
  max_delegations: { least: 1, max: teamDelegationsMax, unit: 'tasks' },
  timeout: { least: secondsMin, max: teamSecondsMax, unit: 'seconds', isContinuous: true },
  member_timeout: { least: secondsMin, max: teamSecondsMax, unit: 'seconds', isContinuous: true },
  max_retries: { least: 0, max: taskRetriesMax, unit: 'further attempts' },
};

/** Checks that each limit of a team is a number that it can work with (TCK4). */
function checkTeamLimits(team: TeamDraft, at: string): OutputFault[] {
  return typedKeys(ranges).flatMap((field) => {
    const value = team[field];
    const range = ranges[field];
    if (value === undefined || isWithin(value, range)) return [];
    const { least, max, unit, isContinuous } = range;
    const expected = `a ${isContinuous ? '' : 'whole '}number from ${least} to ${max}`;
    return [
      {
        path: `${at}${field}`,
        reason: `expected ${expected} (${unit}), received ${value}`,
        hint: `Try: ${value > max ? max : defaultTeam[field]}, or leave it out`,
      },
    ];
  });
}

function isWithin(value: number, { least, max, isContinuous }: Range): boolean {
  return value >= least && value <= max && (isContinuous === true || Number.isInteger(value));
}

function typedKeys<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(record).filter((key): key is K => key in record);
}
