/**
 * Changes a plan by operations.
 *
 * Invariants:
 *   PO1. Operations take effect in their order. If one can't be applied, all that can't are reported and nothing is changed.
 *   PO2. A task that is removed passes its dependencies on to those that depended on it.
 *   PO3. When a task is split, those that depended on it depend on the last part, and read each file from the part that
 *        writes it.
 *   PO4. A proof of concept comes before the tasks that it names, in the plan and by their dependencies.
 *   PO5. A plan never exceeds the limits of its contract.
 *   PO6. Evidence keeps its checks by code, and a verifier its triad: only people name them.
 */
import type {
  CoordinationPlan,
  PlanFinding,
  PlanOperation,
  PlanRisk,
  PlanTask,
  TaskInput,
} from '../../contracts/coordination-plan.ts';
import { keepChecks } from './check-plan-evidence.ts';
import { keepTriad } from './check-plan-verifiers.ts';
import { listNames } from '../text/list-names.ts';
import { instructionCharsMax } from './task-rules.ts';

export type ChangedPlan =
  | { readonly ok: true; readonly plan: CoordinationPlan }
  | { readonly ok: false; readonly faults: PlanFinding[] };

/** Reason why an operation can't be applied, and its cure. */
class Refusal {
  readonly fault: Pick<PlanFinding, 'message' | 'cure'>;

  constructor(message: string, cure: string) {
    this.fault = { message, cure };
  }
}

/** Applies operations. Whether the result is a good plan is checked by `checkCoordinationPlan`. */
export function changePlan(
  plan: CoordinationPlan,
  operations: readonly PlanOperation[],
): ChangedPlan {
  const faults: PlanFinding[] = [];
  let changed = plan;
  for (const [at, operation] of operations.entries()) {
    const next = apply(changed, operation);
    const result = next instanceof Refusal ? next : (findExcess(next) ?? next);
    if (result instanceof Refusal) {
      faults.push({ rule: 'operation', path: `operations/${at}`, ...result.fault });
    } else {
      changed = result;
    }
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, plan: changed };
}

function apply(plan: CoordinationPlan, operation: PlanOperation): CoordinationPlan | Refusal {
  if (isTaskChange(operation)) return changeTask(plan, operation);
  if (isAgentChange(operation)) return changeAgents(plan, operation);
  switch (operation.operation) {
    case 'add_task':
      return addTasks(plan, [operation.task], plan.tasks.length);
    case 'remove_task':
      return removeTask(plan, operation.task_id);
    case 'split_task':
      return splitTask(plan, operation);
    case 'insert_proof_of_concept':
      return insertProof(plan, operation);
    case 'add_risk':
      return addRisk(plan, operation.risk);
    case 'change_summary':
      return { ...plan, summary: operation.summary };
    case 'change_escalation':
      return { ...plan, escalation: operation.escalation };
  }
}

function addRisk(plan: CoordinationPlan, risk: PlanRisk): CoordinationPlan | Refusal {
  return plan.risks.some(({ risk_id }) => risk_id === risk.risk_id)
    ? new Refusal(`the plan has a risk "${risk.risk_id}" already`, 'Use another risk_id')
    : { ...plan, risks: [...plan.risks, risk] };
}

function noTask({ tasks }: CoordinationPlan, id: string): Refusal {
  const known = listNames(tasks.map(({ task_id }) => task_id));
  return new Refusal(`the plan has no task "${id}"`, `Name one of ${known}`);
}

function noAgent({ agents }: CoordinationPlan, name: string): Refusal {
  const known = listNames(agents.map(({ agent_name }) => agent_name));
  return new Refusal(
    `the plan has no agent "${name}"`,
    `Name one of ${known}, or add it first with add_agent`,
  );
}

function addTasks(
  plan: CoordinationPlan,
  added: readonly PlanTask[],
  at: number,
): CoordinationPlan | Refusal {
  const ids = [...plan.tasks, ...added].map(({ task_id }) => task_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    return new Refusal(`there is a task "${twice}" already`, 'Give the new task an id of its own');
  }
  return { ...plan, tasks: plan.tasks.toSpliced(at, 0, ...added) };
}

function removeTask(plan: CoordinationPlan, id: string): CoordinationPlan | Refusal {
  const removed = plan.tasks.find(({ task_id }) => task_id === id);
  if (removed === undefined) return noTask(plan, id);
  const tasks = plan.tasks
    .filter((task) => task !== removed)
    .map((task) =>
      task.depends_on.includes(id)
        ? { ...task, depends_on: replaceIn(task, id, removed.depends_on) }
        : task,
    );
  return tasks.length === 0
    ? new Refusal('a plan needs at least one task', 'Add the new task before you remove the last')
    : { ...plan, tasks };
}

/** Returns the dependencies of a task with others in the place of one of them, each once, and never the task itself. */
function replaceIn({ task_id, depends_on }: PlanTask, id: string, by: readonly string[]): string[] {
  const all = depends_on.flatMap((one) => (one === id ? by : [one]));
  return [...new Set(all)].filter((one) => one !== task_id);
}

function splitTask(
  plan: CoordinationPlan,
  { task_id, into }: Extract<PlanOperation, { operation: 'split_task' }>,
): CoordinationPlan | Refusal {
  const at = plan.tasks.findIndex((task) => task.task_id === task_id);
  const whole = plan.tasks[at];
  const last = into.at(-1);
  if (whole === undefined || last === undefined) return noTask(plan, task_id);
  const parts = into.map((one) => ({ ...one, validation: keepChecks(whole, one.validation) }));
  const readFrom = (input: TaskInput): TaskInput => {
    if (input.from !== task_id) return input;
    const writer = into.findLast(({ outputs }) => outputs.some(({ path }) => path === input.path));
    return { ...input, from: (writer ?? last).task_id };
  };
  const rest = plan.tasks.toSpliced(at, 1).map((task) => ({
    ...task,
    depends_on: replaceIn(task, task_id, [last.task_id]),
    inputs: task.inputs.map(readFrom),
  }));
  return addTasks({ ...plan, tasks: rest }, parts, at);
}

function insertProof(
  plan: CoordinationPlan,
  { task, before }: Extract<PlanOperation, { operation: 'insert_proof_of_concept' }>,
): CoordinationPlan | Refusal {
  if (task.proof_of_concept === null) {
    return new Refusal(
      `the task "${task.task_id}" is no proof of concept`,
      'Give it proof_of_concept with a risk and its criteria, or add it with add_task',
    );
  }
  const known = plan.tasks.map(({ task_id }) => task_id);
  const unknown = before.find((id) => !known.includes(id));
  if (unknown !== undefined) return noTask(plan, unknown);
  const added = addTasks(plan, [task], Math.min(...before.map((id) => known.indexOf(id))));
  if (added instanceof Refusal) return added;
  const tasks = added.tasks.map((one) =>
    before.includes(one.task_id)
      ? { ...one, depends_on: [...new Set([...one.depends_on, task.task_id])] }
      : one,
  );
  return { ...added, tasks };
}

const taskChanges = [
  'reorder',
  'reassign',
  'change_instructions',
  'append_instructions',
  'change_files',
  'change_validation',
] as const;
type TaskChange = Extract<PlanOperation, { operation: (typeof taskChanges)[number] }>;

function isTaskChange(operation: PlanOperation): operation is TaskChange {
  return taskChanges.some((name) => name === operation.operation);
}

function changeTask(plan: CoordinationPlan, change: TaskChange): CoordinationPlan | Refusal {
  const task = plan.tasks.find(({ task_id }) => task_id === change.task_id);
  if (task === undefined) return noTask(plan, change.task_id);
  const names = plan.agents.map(({ agent_name }) => agent_name);
  if (change.operation === 'reassign' && !names.includes(change.agent))
    return noAgent(plan, change.agent);
  const changed = { ...task, ...changesOf(task, change) };
  if (changed.instructions.length > instructionCharsMax) {
    return new Refusal(
      `the instructions of "${task.task_id}" would exceed ${instructionCharsMax} characters`,
      'Shorten them with change_instructions, or split the task',
    );
  }
  return { ...plan, tasks: plan.tasks.map((one) => (one === task ? changed : one)) };
}

function changesOf(task: PlanTask, change: TaskChange): Partial<PlanTask> {
  switch (change.operation) {
    case 'reorder':
      return { depends_on: [...new Set(change.depends_on)] };
    case 'reassign':
      return { agent: change.agent };
    case 'change_instructions':
      return { instructions: change.instructions };
    case 'append_instructions':
      return {
        instructions: `${task.instructions.trimEnd()}\n\n## ${change.heading}\n${change.text}`,
      };
    case 'change_files':
      return { inputs: change.inputs, outputs: change.outputs };
    case 'change_validation':
      return { validation: keepChecks(task, change.validation) };
  }
}

const agentChanges = [
  'add_agent',
  'change_agent',
  'remove_agent',
  'draft_agent',
  'remove_draft',
] as const;
type AgentChange = Extract<PlanOperation, { operation: (typeof agentChanges)[number] }>;

function isAgentChange(operation: PlanOperation): operation is AgentChange {
  return agentChanges.some((name) => name === operation.operation);
}

function changeAgents(plan: CoordinationPlan, change: AgentChange): CoordinationPlan | Refusal {
  const { agents, new_agents } = plan;
  const findAgent = (name: string): number =>
    agents.findLastIndex(({ agent_name }) => agent_name === name);
  switch (change.operation) {
    case 'add_agent':
      return findAgent(change.agent.agent_name) === -1
        ? { ...plan, agents: [...agents, change.agent] }
        : new Refusal(
            `the plan has an agent "${change.agent.agent_name}" already`,
            'Use change_agent, or another agent_name',
          );
    case 'change_agent': {
      const at = findAgent(change.agent.agent_name);
      if (at === -1) return noAgent(plan, change.agent.agent_name);
      return { ...plan, agents: agents.toSpliced(at, 1, keepTriad(agents[at], change.agent)) };
    }
    case 'remove_agent': {
      const at = findAgent(change.agent_name);
      if (at === -1) return noAgent(plan, change.agent_name);
      return { ...plan, agents: agents.toSpliced(at, 1) };
    }
    case 'draft_agent': {
      const others = new_agents.filter(({ agent_id }) => agent_id !== change.draft.agent_id);
      return { ...plan, new_agents: [...others, change.draft] };
    }
    case 'remove_draft': {
      const others = new_agents.filter(({ agent_id }) => agent_id !== change.agent_id);
      return others.length < new_agents.length
        ? { ...plan, new_agents: others }
        : new Refusal(
            `the plan has no draft of an agent "${change.agent_id}"`,
            `Name one of ${listNames(new_agents.map(({ agent_id }) => agent_id))}`,
          );
    }
  }
}

/** Equal to the contract's limits. */
const planMaxima = [
  ['tasks', 60],
  ['agents', 30],
  ['new_agents', 10],
  ['risks', 30],
] as const;
const dependenciesMax = 50;

function findExcess(plan: CoordinationPlan): Refusal | null {
  if (plan.agents.length === 0) {
    return new Refusal('a plan needs at least one agent', 'Add the new agent first');
  }
  for (const [list, max] of planMaxima) {
    if (plan[list].length > max) {
      return new Refusal(`a plan has at most ${max} ${list.replaceAll('_', ' ')}`, 'Merge some');
    }
  }
  const full = plan.tasks.find(({ depends_on }) => depends_on.length > dependenciesMax);
  if (full === undefined) return null;
  const message = `"${full.task_id}" would depend on more than ${dependenciesMax} tasks`;
  return new Refusal(message, 'Depend on the last of a chain instead');
}
