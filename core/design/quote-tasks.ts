/** Quotes tasks and agents of a plan as the record keeps them: the evidence of each task is what it has to meet. */
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import type { PlanAgent } from '../../contracts/design-run.ts';
import type { PlannedTask } from '../../contracts/run-log.ts';

export function quoteTasks({ tasks }: Pick<CoordinationPlan, 'tasks'>): PlannedTask[] {
  return tasks.map(({ task_id, validation }) => ({
    delegation_id: task_id,
    acceptance_criteria: validation.evidence.map(({ evidence_id, description }) => ({
      criterion_id: evidence_id,
      description: description.slice(0, criterionCharsMax),
    })),
  }));
}

export function quoteAgents({
  agents,
  tasks,
}: Pick<CoordinationPlan, 'agents' | 'tasks'>): PlanAgent[] {
  return agents.map(({ agent_name, role }) => ({
    agent_name,
    ...(role === 'solution_architect' && { decides: true }),
    task_ids: tasks.filter(({ agent }) => agent === agent_name).map(({ task_id }) => task_id),
  }));
}

/** Equal to the contract's limit for a criterion. */
const criterionCharsMax = 1_000;
