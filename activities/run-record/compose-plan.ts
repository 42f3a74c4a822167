import { z } from 'zod';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { Delegation, Executor, ExecutorOf } from '../../contracts/delegation.ts';
import { engineLimits } from '../../core/limits.ts';
import { linkInputs } from '../../core/plan/check-inputs.ts';
import { cutText, titleOf } from '../../core/text/cut-text.ts';
import { chooseMembers, findWriter } from '../../core/triad/roles.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';
import type { TriadInput } from '../../contracts/triad.ts';
import type { WavePlan, WavePlanOutline } from '../../contracts/wave-plan.ts';
import { thisTeamId } from '../../contracts/names.ts';
import { NamedTeam, type TeamInput } from '../../contracts/team.ts';
import { chooseLeader } from '../../core/team/summarise-teams.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { definedOnly } from '../../core/json.ts';

/** Id of a delegation that was started alone. */
const loneDelegationId = 'task';

/** Criterion of a task without any. */
export const defaultCriterion = 'The task is done as described.';

/** Composes the single delegation of an input that has a task and no plan. */
export function composeLoneDelegation({
  agent_id,
  title,
  task_description,
  acceptance_criteria = [defaultCriterion],
}: Pick<Delegation, 'agent_id' | 'title' | 'task_description'> & {
  readonly acceptance_criteria?: readonly string[] | undefined;
}): Delegation {
  return {
    delegation_id: loneDelegationId,
    agent_id,
    title,
    task_description,
    acceptance_criteria: acceptance_criteria.map((description, index) => ({
      criterion_id: `c${index + 1}`,
      description,
    })),
    required_inputs: ['goal'],
    provided_inputs: ['goal'],
    depends_on: [],
    produces: [],
    executor: { kind: 'agent' },
  };
}

/** Composes the plan of typed delegations, in the shape of a planner's. Only the input is known to it. */
export function composePlan(delegations: readonly Delegation[]): WavePlan {
  return {
    summary:
      delegations.length === 1
        ? 'One delegation, as it was asked for.'
        : `${delegations.length} delegations, as they were asked for.`,
    delegations: linkInputs(delegations, ['goal', 'constraints']),
    needs_user_input: false,
    user_questions: [],
  };
}

export async function storePlan(store: ArtifactStore, plan: WavePlan): Promise<WavePlanOutline> {
  return outlinePlan(plan, await store.put(JSON.stringify(plan)));
}

/** @returns the one delegation that a typed triad comes down to; null when there is no agent to be a member. */
export function seatTriad(
  input: TriadInput,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): Delegation | null {
  const { type, task, rounds_max, sections, timeouts } = input;
  const members = input.members ?? chooseMembers(type, agents);
  if (members === null) return null;
  const executor: ExecutorOf<Executor, 'triad'> = {
    kind: 'triad',
    type,
    reason: 'It was asked for.',
    members,
    ...definedOnly({ rounds_max, sections, timeouts }),
  };
  // Members that don't fit the type are a fault, and then it does not matter whose agent stands here.
  const writer = findWriter(type, members) ?? members[0];
  return {
    ...composeLoneDelegation({
      agent_id: writer?.agent_id ?? '',
      title: titleOf(task),
      task_description: task,
      // Its text is that of the section too: it has to say what is wanted.
      acceptance_criteria: input.acceptance_criteria ?? [
        cutText(task, engineLimits.criterionCharsMax),
      ],
    }),
    executor,
  };
}

/** Fields that a typed team shares with a listed one; the rest of the input is ignored. */
const definitionFields = z.object(NamedTeam.shape).omit({ team_id: true, members: true });

/** Fields that belong to one run, whichever team does it. */
const perRunFields: readonly string[] = ['thread_id', 'user_id'];

/** Returns true when the input only chooses one of its `teams`. */
export function choosesTeam({ team_id, teams = [] }: TeamInput): boolean {
  return team_id !== undefined && teams.some((team) => team.team_id === team_id);
}

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
      ...definedOnly({ thread_id, user_id }),
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
