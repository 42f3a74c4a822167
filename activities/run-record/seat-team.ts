import { z } from 'zod';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { thisTeamId } from '../../contracts/names.ts';
import { NamedTeam, type TeamInput } from '../../contracts/team.ts';
import { chooseLeader } from '../../core/team/summarise-teams.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { composeLoneDelegation } from './compose-plan.ts';

/** Fields that a typed team shares with a listed one; the rest of the input is ignored. */
const definitionFields = z.object(NamedTeam.shape).omit({ team_id: true, members: true });

/** Fields that belong to one run, whichever team does it. */
const perRunFields: readonly string[] = ['thread_id', 'user_id'];

/** Returns true when the input only chooses one of its `teams`. */
export function choosesTeam({ team_id, teams = [] }: TeamInput): boolean {
  return team_id !== undefined && teams.some((team) => team.team_id === team_id);
}

/** Lists the fields of the input that define its team. */
export function listDefinitionFields(input: TeamInput): readonly string[] {
  const { members, ...rest } = input;
  const given = Object.keys(definitionFields.parse(rest)).filter(
    (key) => !perRunFields.includes(key),
  );
  return members === undefined ? given : ['members', ...given];
}

/** Lists all teams of an input, the chosen one included. */
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

/** Composes the single delegation of a typed team. */
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
