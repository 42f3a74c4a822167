import type { PlanTasksInput, PlanTasksResult, TeamSeat } from '../../contracts/team-run.ts';
import type { Delegation, Executor } from '../../contracts/delegation.ts';
import type { TeamMember } from '../../contracts/team.ts';
import { engineLimits } from '../../core/limits.ts';
import { resolveTeam } from '../../core/team/resolve-team.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { defaultCriterion, storePlan } from '../run-record/compose-plan.ts';
import { readRegistry } from '../artifacts/read-artifact.ts';
import type { TeamDeps } from './read-team.ts';
import { createInvalidTeam, defineTeam, readTeamTask } from './read-team.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';

type Task = PlanTasksInput['tasks'][number];

/**
 * Makes a delegation of each task that a leader gave out, in a plan of their own, so that members work as they do for a
 * wave. Repeating it gives the same.
 *
 * @throws InvalidInput when the team or a member does not exist.
 * @throws {ArtifactCorrupt} when a plan, the registry or a task is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function planTasks(
  { store }: Pick<TeamDeps, 'store'>,
  input: PlanTasksInput,
): Promise<PlanTasksResult> {
  const [{ delegation }, registry, texts] = await Promise.all([
    readTeamTask(store, input),
    readRegistry(store, input.registry_ref),
    Promise.all(input.tasks.map(({ task_ref }) => store.getText(task_ref))),
  ]);
  const definition = defineTeam(delegation.executor, registry.teams);
  const members = definition.members ?? [];
  const seats = resolveTeam(definition, delegation.agent_id, registry).members;
  const plan: WavePlan = {
    summary: `Tasks of the team that does ${delegation.delegation_id}.`,
    delegations: input.tasks.map((task, i) => {
      const at = members.findIndex(({ id }) => id === task.member_id);
      const member = members[at];
      const seat = seats[at];
      if (member === undefined || seat === undefined) throw noSuchMember(task, members);
      return toDelegation(task, texts[i] ?? '', { member, seat });
    }),
    needs_user_input: false,
    user_questions: [],
  };
  const { plan_ref, delegations } = await storePlan(store, plan);
  return { plan_ref, delegations };
}

function toDelegation(
  task: Task,
  task_description: string,
  { member, seat }: { readonly member: TeamMember; readonly seat: TeamSeat },
): Delegation {
  const { delegation_id, title, inputs } = task;
  const { triad } = member;
  const needed = ['goal', ...inputs];
  // A triad works on a section for each criterion, so that has to say what is wanted.
  const description =
    triad === undefined
      ? defaultCriterion
      : cutText(task_description, engineLimits.criterionCharsMax);
  return {
    delegation_id,
    agent_id: seat.agent_id,
    title,
    task_description,
    acceptance_criteria: [{ criterion_id: 'c1', description }],
    required_inputs: needed,
    provided_inputs: needed,
    depends_on: [],
    produces: [],
    executor: executorOf(member),
  };
}

function executorOf({ triad, team_id }: TeamMember): Executor {
  if (triad !== undefined) return { kind: 'triad', ...triad };
  return team_id === undefined ? { kind: 'agent' } : { kind: 'team', team_id };
}

function noSuchMember({ member_id }: Task, members: readonly TeamMember[]): Error {
  const known = listNames(members.map(({ id }) => id));
  return createInvalidTeam(`it has no member ${listNames([member_id])}. Members are: ${known}`);
}
