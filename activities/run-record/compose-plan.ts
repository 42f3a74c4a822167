import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { Delegation, Executor, ExecutorOf } from '../../contracts/delegation.ts';
import { engineLimits } from '../../core/limits.ts';
import { linkInputs } from '../../core/plan/check-inputs.ts';
import { cutText, titleOf } from '../../core/text/cut-text.ts';
import { chooseMembers, findWriter } from '../../core/triad/roles.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';
import type { TriadInput } from '../../contracts/triad.ts';
import type { WavePlan, WavePlanOutline } from '../../contracts/wave-plan.ts';

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
    ...(rounds_max !== undefined && { rounds_max }),
    ...(sections !== undefined && { sections }),
    ...(timeouts !== undefined && { timeouts }),
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
