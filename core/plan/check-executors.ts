/**
 * Checks of the executors in a plan: whether the run allows them, and whether they fit their delegation.
 *
 * Invariants:
 *   PT1. Where triads are not allowed, there is none.
 *   PT4. The agent of a triad's delegation is that of the member who writes its output.
 *   PTS1. Where teams are not allowed, there is none.
 *   PTS3. A team that is named is one that there is, comes with nothing besides its name, and its leader is the delegation's
 *         agent.
 *   PTS4. A team that the plan puts together keeps what every team must keep.
 *   PTS5. An agent that only leads gets no delegation without a team.
 */
import type { DelegationOutline, ExecutorOf, ExecutorOutline } from '../../contracts/delegation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TeamSummary } from '../../contracts/team.ts';
import { checkTeam } from '../team/check-team.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkSections, checkTriad } from '../triad/check-triad.ts';
import { findWriter } from '../triad/roles.ts';
import type { WorkTerms } from '../../contracts/planner-run.ts';

/** Facts against which executors are checked. */
export type ExecutorContext = Pick<WorkTerms, 'agents' | 'triads' | 'models' | 'teams'>;

type Triad = ExecutorOf<ExecutorOutline, 'triad'>;
type Team = ExecutorOf<ExecutorOutline, 'team'>;

export function checkExecutors(
  delegations: readonly DelegationOutline[],
  context: ExecutorContext,
): OutputFault[] {
  return delegations.flatMap((delegation, i) => {
    const path = `delegations[${i}]`;
    const { executor } = delegation;
    switch (executor.kind) {
      case 'agent':
        return checkAlone(delegation, path, context);
      case 'triad':
        return checkPlannedTriad(delegation, executor, context, path);
      case 'team':
        return checkPlannedTeam(delegation, executor, context, path);
    }
  });
}

function checkAlone(
  { agent_id }: DelegationOutline,
  path: string,
  { agents, teams }: ExecutorContext,
): OutputFault[] {
  const leads = agents.some((one) => one.agent_id === agent_id && one.only_leads === true);
  if (!leads) return [];
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

function checkPlannedTriad(
  delegation: DelegationOutline,
  triad: Triad,
  context: ExecutorContext,
  path: string,
): OutputFault[] {
  if (!context.triads) {
    const reason = 'this run does without triads';
    const hint = 'Try: leave triad out; then the agent works alone';
    return [{ path: `${path}.triad`, reason, hint }];
  }
  return [
    ...checkTriad(triad, context, `${path}.triad.`),
    ...checkWriter(delegation, triad, path),
    ...checkSections(triad, delegation.criterion_ids, `${path}.triad.`),
  ];
}

function checkWriter(
  { agent_id }: DelegationOutline,
  { type, members }: Triad,
  path: string,
): OutputFault[] {
  const writer = findWriter(type, members);
  if (writer === undefined || writer.agent_id === agent_id) return [];
  return [
    {
      path: `${path}.agent_id`,
      reason: `the output of this triad is written by its ${writer.role} "${cutText(writer.name, 60)}", whose agent is another one`,
      hint: `Try: "${cutText(writer.agent_id, 60)}"`,
    },
  ];
}

function checkPlannedTeam(
  delegation: DelegationOutline,
  { kind: _kind, ...team }: Team,
  context: ExecutorContext,
  path: string,
): OutputFault[] {
  const { teams } = context;
  if (teams === null) {
    const reason = 'this run does without teams';
    const hint = 'Try: leave team out; then the agent works alone';
    return [{ path: `${path}.team`, reason, hint }];
  }
  if (team.team_id !== undefined) {
    return checkNamed(delegation, { ...team, team_id: team.team_id }, { teams, path });
  }
  const around = { ...context, teams, leaderModels: null, middlewares: [] };
  return checkTeam(team, around, `${path}.team.`);
}

function checkNamed(
  { agent_id }: DelegationOutline,
  { team_id, ...rest }: Omit<Team, 'kind'> & { readonly team_id: string },
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
