/**
 * Checks of the teams in a plan.
 *
 * Invariants:
 *   PTS1. Where teams are not allowed, the plan has none.
 *   PTS2. A delegation is done by a triad or by a team, never by both.
 *   PTS3. A named team exists, has no fields besides its name, and its leader is the delegation's agent.
 *   PTS4. A team that the plan defines follows the rules for every team.
 *   PTS5. An agent that only leads gets no delegation without a team.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TeamOutline, TeamSummary } from '../../contracts/team.ts';
import { checkTeam } from '../team/check-team.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import type { TriadContext } from './check-triads.ts';

/** Facts against which the teams of a plan are checked. */
export interface PlannedTeamContext extends TriadContext {
  /** Teams that the plan may name; null when teams are not allowed. */
  readonly teams: readonly TeamSummary[] | null;
}

export function checkTeams(
  delegations: readonly DelegationOutline[],
  context: PlannedTeamContext,
): OutputFault[] {
  const { teams } = context;
  return delegations.flatMap((delegation, i) => {
    const { team, triad } = delegation;
    const path = `delegations[${i}]`;
    if (team === undefined) return checkAlone(delegation, path, context);
    if (teams === null) {
      const reason = 'this run does without teams';
      const hint = 'Try: leave team out; then the agent works alone';
      return [{ path: `${path}.team`, reason, hint }];
    }
    return [
      ...(triad === undefined ? [] : [bothOf(path)]),
      ...(team.team_id === undefined
        ? checkTeam(
            team,
            { ...context, teams, leaderModels: null, middlewares: [] },
            `${path}.team.`,
          )
        : checkNamed(delegation, { ...team, team_id: team.team_id }, { teams, path })),
    ];
  });
}

/** Checks a delegation without a team. In a triad the members are the executors, so its agent may be a leader. */
function checkAlone(
  { agent_id, triad }: DelegationOutline,
  path: string,
  { agents, teams }: PlannedTeamContext,
): OutputFault[] {
  const leads = agents.some((one) => one.agent_id === agent_id && one.only_leads === true);
  if (!leads || triad !== undefined) return [];
  const workers = agents
    .filter((one) => one.only_leads !== true && one.agent_id !== plannerAgentId)
    .map((one) => one.agent_id);
  const hint = `one of ${listNames(workers)}`;
  return [
    {
      path: `${path}.agent_id`,
      reason: `"${cutText(agent_id, 60)}" only leads teams, and ${teams === null ? 'this run does without teams' : 'this delegation has no team'}`,
      hint: `Try: ${teams === null ? hint : `a team with members, or ${hint}`}`,
    },
  ];
}

function bothOf(path: string): OutputFault {
  const reason = 'a delegation is done by a triad or by a team, not by both';
  return { path: `${path}.team`, reason, hint: 'Try: leave one of them out' };
}

function checkNamed(
  { agent_id }: DelegationOutline,
  { team_id, ...rest }: TeamOutline & { readonly team_id: string },
  { teams, path }: { readonly teams: readonly TeamSummary[]; readonly path: string },
): OutputFault[] {
  const faults: OutputFault[] = [];
  const fault = (at: string, reason: string, hint: string): void => {
    faults.push({ path: `${path}.${at}`, reason, hint });
  };
  const known = teams.find((team) => team.team_id === team_id);
  const names = teams.map((team) => team.team_id);
  const besides = Object.entries(rest).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (known === undefined) {
    const reason = `there is no team "${cutText(team_id, 60)}"`;
    const hint = names.length === 0 ? 'members instead of team_id' : `one of ${listNames(names)}`;
    fault('team.team_id', reason, `Try: ${hint}`);
  } else if (known.leader !== agent_id) {
    const reason = `the team "${team_id}" is led by another agent`;
    fault('agent_id', reason, `Try: "${cutText(known.leader, 60)}"`);
  }
  if (besides.length > 0) {
    const reason = `a team with a name brings all that it needs, and here stands ${listNames(besides)} too`;
    fault('team', reason, 'Try: team_id alone, or no team_id');
  }
  return faults;
}
