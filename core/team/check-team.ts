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
import { plannerAgentId, thisTeamId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { defaultTeam, engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkAgent, checkSections, checkTriad } from '../triad/check-triad.ts';
import { findTeamRings, summariseTeams } from './summarise-teams.ts';
import type { MemberDraft, TeamContext, TeamDraft, TriadDraft } from './summarise-teams.ts';

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
    const reason = 'the team has no members, so no task could be done';
    return [{ path, reason, hint: `Try: at least one, as {"id":"${example ?? 'writer'}"}` }];
  }
  if (count > max) {
    const reason = `the team has ${count} members, the limit is ${max}`;
    return [{ path, reason, hint: 'Try: put those who work together into a team of their own' }];
  }
  if (members.some(({ enabled }) => enabled !== false)) return [];
  const reason = 'every member is disabled, so no task could be done';
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

const kinds = ['agent_id', 'triad', 'team_id'] as const;

interface MemberContext extends TeamContext {
  /** Id of the team that the member belongs to. */
  readonly within: string | undefined;
}

/** Checks the executor of a member: one agent, one triad or one team (TCK3, TCK6). */
function checkMember(member: MemberDraft, context: MemberContext, path: string): OutputFault[] {
  const { agent_id, triad, team_id, unread = [] } = member;
  const given = kinds.filter((kind) => member[kind] !== undefined);
  const isUnclear = kinds.some((kind) => unread.includes(kind));
  return [
    ...(given.length > 1 ? [tooMany(given, path)] : []),
    ...(agent_id === undefined ? [] : checkAgent(agent_id, `${path}.agent_id`, context.agents)),
    ...(triad === undefined ? [] : checkMemberTriad(triad, context, path)),
    ...(team_id === undefined ? [] : checkMemberTeam(team_id, context, path)),
    ...(given.length === 0 && !isUnclear ? checkNamesake(member, context, path) : []),
  ];
}

function tooMany(given: readonly string[], path: string): OutputFault {
  return {
    path,
    reason: `a member is an agent, a triad or a team, and this one has ${given.join(' and ')}`,
    hint: `Try: keep ${given[0] ?? 'agent_id'} alone, and make another member of the rest`,
  };
}

/** Checks a member that has only an id: it names an agent. */
function checkNamesake(
  { id, bare }: MemberDraft,
  { agents }: TeamContext,
  path: string,
): OutputFault[] {
  if (id === undefined) return [];
  const faults = checkAgent(id, bare === true ? path : `${path}.id`, agents);
  return faults.map((fault) => ({
    ...fault,
    hint: `${fault.hint}, or say who it is: agent_id, triad or team_id`,
  }));
}

function checkMemberTriad(triad: TriadDraft, context: TeamContext, path: string): OutputFault[] {
  if (!context.triads) {
    const reason = 'this run does without triads';
    return [{ path: `${path}.triad`, reason, hint: 'Try: leave triad out, and name one agent' }];
  }
  const { sections = [] } = triad;
  return [
    ...checkTriad(triad, context, `${path}.triad.`),
    ...checkSections({ sections }, [], `${path}.triad.`),
  ];
}

function checkMemberTeam(
  teamId: string,
  { teams, within }: MemberContext,
  path: string,
): OutputFault[] {
  const team = teams.find(({ team_id }) => team_id === teamId);
  const max = engineLimits.teamDepthMax;
  if (team === undefined) {
    // A team is never a member of itself.
    const names = teams
      .map(({ team_id }) => team_id)
      .filter((id) => id !== within && id !== thisTeamId);
    const reason = `there is no team "${cutText(teamId, 60)}"`;
    const hint =
      names.length === 0
        ? 'Try: an agent_id; there are no other teams'
        : `Try: one of ${listNames(names)}`;
    return [{ path: `${path}.team_id`, reason, hint }];
  }
  if (team.depth < max) return [];
  return [
    {
      path: `${path}.team_id`,
      reason: `with "${teamId}" teams would be ${team.depth + 1} deep in one another, the limit is ${max}`,
      hint: 'Try: take members of the lower teams into a higher one',
    },
  ];
}

/**
 * Checks the teams that a person has named, each alone and all together.
 *
 * Invariants:
 *   TNM1. A name belongs to one team.
 *   TNM2. No teams contain each other; each ring is shown as A→B→A, at the member that closes it.
 */

export interface PlacedTeam {
  readonly draft: TeamDraft;
  /** Prefix of its faults' paths: empty, or ending with a point. */
  readonly at: string;
}

/** @returns every fault at once; empty when all teams are valid. */
export function checkNamedTeams(
  placed: readonly PlacedTeam[],
  context: Omit<TeamContext, 'teams'>,
): OutputFault[] {
  const drafts = placed.map(({ draft }) => draft);
  const whole: TeamContext = { ...context, teams: summariseTeams(drafts, context.agents) };
  const rings = findTeamRings(drafts).map((ring) => describeRing(ring, placed));
  const faults = placed.flatMap(({ draft, at }) => checkTeam(draft, whole, at));
  // A team that closes a ring is also too deep, and the same change repairs both.
  const others = faults.filter(({ path }) => !rings.some((ring) => ring.path === path));
  return [...others, ...checkNames(placed), ...rings];
}

function checkNames(placed: readonly PlacedTeam[]): OutputFault[] {
  const names = placed.map(({ draft }) => draft.team_id);
  return placed.flatMap(({ draft: { team_id }, at }, i) => {
    if (team_id === undefined || names.indexOf(team_id) === i) return [];
    const reason = `"${cutText(team_id, 60)}" is the name of another team already`;
    return [{ path: `${at}team_id`, reason, hint: 'Try: a team_id of its own for each team' }];
  });
}

function describeRing(ring: readonly string[], placed: readonly PlacedTeam[]): OutputFault {
  const [from, to] = ring.slice(-2);
  const place = placed.find(({ draft }) => draft.team_id === from);
  const member = place?.draft.members?.findIndex(({ team_id }) => team_id === to);
  return {
    path: `${place?.at ?? ''}members[${member ?? 0}].team_id`,
    reason: `these teams contain each other: ${ring.join('→')}`,
    hint: 'Try: take one of them out of the other',
  };
}
