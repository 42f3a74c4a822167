import { thisTeamId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { checkExecutor } from '../plan/check-delegations.ts';
import { checkSections, checkTriad } from '../plan/check-triads.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import type { TeamContext } from './team-context.ts';
import type { MemberDraft, TriadDraft } from './team-draft.ts';

const kinds = ['agent_id', 'triad', 'team_id'] as const;

interface MemberContext extends TeamContext {
  /** Id of the team that the member belongs to. */
  readonly within: string | undefined;
}

/** Checks the executor of a member: one agent, one triad or one team (TCK3, TCK6). */
export function checkMember(
  member: MemberDraft,
  context: MemberContext,
  path: string,
): OutputFault[] {
  const { agent_id, triad, team_id, unread = [] } = member;
  const given = kinds.filter((kind) => member[kind] !== undefined);
  const isUnclear = kinds.some((kind) => unread.includes(kind));
  return [
    ...(given.length > 1 ? [tooMany(given, path)] : []),
    ...(agent_id === undefined ? [] : checkExecutor(agent_id, `${path}.agent_id`, context.agents)),
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
  const faults = checkExecutor(id, bare === true ? path : `${path}.id`, agents);
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
