import { z } from 'zod';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { thisTeamId } from '../../contracts/names.ts';
import { NamedTeam } from '../../contracts/team.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { chooseLeader } from '../../core/team/choose-leader.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { composeLoneDelegation } from './compose-plan.ts';

/** What a typed team has in common with one that stands in a list; the rest of the input is left out. */
const definitionFields = z.object(NamedTeam.shape).omit({ team_id: true, members: true });

/** What is said of one run, whichever team does it. */
const perRunFields: readonly string[] = ['thread_id', 'user_id'];

/** Whether the input only chooses one of its `teams`. */
export function choosesTeam({ team_id, teams = [] }: TeamInput): boolean {
  return team_id !== undefined && teams.some((team) => team.team_id === team_id);
}

/** Fields of the input that say what its team is. */
export function listDefinitionFields(input: TeamInput): readonly string[] {
  const { members, ...rest } = input;
  const given = Object.keys(definitionFields.parse(rest)).filter(
    (key) => !perRunFields.includes(key),
  );
  return members === undefined ? given : ['members', ...given];
}

/** All teams of an input, the one that is to work among them. */
export function listTypedTeams(input: TeamInput): readonly NamedTeam[] {
  const { team_id = thisTeamId, teams = [], thread_id, user_id } = input;
  if (choosesTeam(input)) {
    const perRun = {
      ...(thread_id !== undefined && { thread_id }),
      ...(user_id !== undefined && { user_id }),
    };
    return teams.map((team) => (team.team_id === team_id ? { ...team, ...perRun } : team));
  }
  const members = input.members?.map((member) =>
    typeof member === 'string' ? { id: member } : member,
  );
  const typed = definitionFields.parse(input);
  return [{ ...typed, team_id, ...(members !== undefined && { members }) }, ...teams];
}

/** The one delegation that a typed team comes down to. */
export function seatTeam(
  input: TeamInput,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): Delegation {
  const { message, team_id = thisTeamId } = input;
  const team = listTypedTeams(input).find((one) => one.team_id === team_id);
  return {
    ...composeLoneDelegation({
      agent_id: chooseLeader(team ?? {}, agents),
      title: titleOf(message),
      task_description: message,
      acceptance_criteria: input.acceptance_criteria,
    }),
    executor: { kind: 'team', team_id },
  };
}
