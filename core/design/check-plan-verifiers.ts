/**
 * Checks the verifiers of a plan (rules DP22, DP23 and DP30 of `check-plan-file`), and keeps triads and roster right while
 * the plan changes.
 */
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import { listNames } from '../text/list-names.ts';
import { checkTriad } from '../triad/check-triad.ts';
import { findWriter } from '../triad/roles.ts';

type PlannedAgent = CoordinationPlan['agents'][number];

/** Returns an agent that takes the place of another: a verifier keeps its triad, which only people name. */
export function keepTriad(before: PlannedAgent | undefined, agent: PlannedAgent): PlannedAgent {
  const triad = agent.role === 'verifier' ? before?.triad : undefined;
  return { ...agent, ...(triad !== undefined && { triad }) };
}

/**
 * Brings the roster in line with the tasks of a changed plan (RPC6 of `rate-change`).
 *
 * @param before The plan before the whole change. An agent that was idle there stays.
 */
export function fitRoster(before: CoordinationPlan, after: CoordinationPlan): CoordinationPlan {
  const workers = { before: listBusy(before), after: listBusy(after) };
  const named = new Map(
    [...before.agents, ...after.agents].map((one) => [one.agent_name, one] as const),
  );
  const agents = [...named.values()].filter((one) => {
    const { agent_name: name, role } = one;
    const isLeft = role !== 'solution_architect' && workers.before.has(name);
    return workers.after.has(name) || (after.agents.includes(one) && !isLeft);
  });
  // Tasks may name agents that do not exist, which is a finding of its own.
  if (agents.length === 0) return after;
  const ids = { before: listAgentIds(before.agents), after: listAgentIds(agents) };
  const drafts = new Map(
    [...before.new_agents, ...after.new_agents].map((one) => [one.agent_id, one] as const),
  );
  const new_agents = [...drafts.values()].filter(
    (one) =>
      ids.after.has(one.agent_id) ||
      (after.new_agents.includes(one) && !ids.before.has(one.agent_id)),
  );
  return { ...after, agents, new_agents };
}

/** Lists the names of those who work on a task or verify one. */
function listBusy({ tasks }: CoordinationPlan): ReadonlySet<string> {
  return new Set(tasks.flatMap(({ agent, validation }) => [agent, validation.verified_by]));
}

function listAgentIds(agents: CoordinationPlan['agents']): ReadonlySet<string> {
  return new Set(
    agents.flatMap(({ agent_id, triad }) => [
      agent_id,
      ...(triad?.members ?? []).map((member) => member.agent_id),
    ]),
  );
}

/** @param working agent_ids of all that take tasks, drafted ones included. */
export function checkVerifiers(plan: CoordinationPlan, working: readonly string[]): PlanFinding[] {
  const triads = plan.agents.flatMap((agent, at) =>
    agent.triad === undefined
      ? []
      : [
          ...checkSeats(agent, `agents/${at}`, agent.triad, working),
          ...checkAuthors(plan, agent.agent_name, agent.triad),
        ],
  );
  return [...plan.tasks.flatMap((task, at) => checkVerifier(plan, task, at)), ...triads];
}

function checkVerifier(
  { agents }: CoordinationPlan,
  { task_id, agent, validation: { verified_by } }: PlanTask,
  at: number,
): PlanFinding[] {
  const path = `tasks/${at}/validation/verified_by`;
  const find = (name: string): PlannedAgent | undefined =>
    agents.find(({ agent_name }) => agent_name === name);
  const author = find(agent);
  const verifiers = agents.filter(({ role }) => role === 'verifier');
  const others = verifiers
    .filter(({ agent_name, agent_id }) => agent_name !== agent && agent_id !== author?.agent_id)
    .map(({ agent_name }) => agent_name);
  const another = others.length === 0 ? 'add one to the roster' : listNames(others);
  if (verified_by === agent) {
    const message = `"${agent}" would verify its own work of "${task_id}"`;
    return [{ rule: 'DP23', path, message, cure: `Name another verifier: ${another}` }];
  }
  const verifier = find(verified_by);
  if (verifier?.role !== 'verifier') {
    const known = listNames(verifiers.map(({ agent_name }) => agent_name));
    const message = `"${verified_by}" is no verifier of the roster`;
    const cure = `Name one of ${known}, or add a verifier to the roster`;
    return [{ rule: 'DP22', path, message, cure }];
  }
  // The members of a triad are checked one by one.
  if (verifier.triad !== undefined || verifier.agent_id !== author?.agent_id) return [];
  const message = `"${verifier.agent_id}" would verify its own work of "${task_id}": "${agent}" and "${verified_by}" are the same agent`;
  const cure = `Give one of the two another agent_id, or name another verifier: ${another}`;
  return [{ rule: 'DP23', path, message, cure }];
}

type Triad = NonNullable<PlannedAgent['triad']>;

function checkSeats(
  { agent_name, agent_id, role }: PlannedAgent,
  path: string,
  { type, members }: Triad,
  working: readonly string[],
): PlanFinding[] {
  if (role !== 'verifier') {
    return [
      {
        rule: 'DP30',
        path: `${path}/triad`,
        message: `"${agent_name}" is no verifier, and names a triad`,
        cure: 'Leave triad out, or give it the role "verifier"',
      },
    ];
  }
  const agents = working.map((id) => ({ agent_id: id }));
  // Which models there are is known to the worker alone.
  const models = members.flatMap(({ model }) => model ?? []);
  const faults = checkTriad({ type, members }, { agents, models }, 'triad.').map(
    ({ path: place, reason, hint }): PlanFinding => ({
      rule: 'DP30',
      path: `${path}/${place.replaceAll(/[.[]/g, '/').replaceAll(']', '')}`,
      message: reason,
      cure: hint,
    }),
  );
  const writer = findWriter(type, members);
  if (writer === undefined || writer.agent_id === agent_id) return faults;
  return [
    ...faults,
    {
      rule: 'DP30',
      path: `${path}/agent_id`,
      message: `the verdict of this triad is given by its ${writer.role} "${writer.name}", whose agent is another one`,
      cure: `Name "${writer.agent_id}"`,
    },
  ];
}

function checkAuthors(
  { agents, tasks }: CoordinationPlan,
  agent_name: string,
  { members }: Triad,
): PlanFinding[] {
  return tasks.flatMap(({ task_id, agent, validation: { verified_by } }, at) => {
    const author = agents.find((one) => one.agent_name === agent)?.agent_id;
    const isOwn = verified_by === agent_name && members.some((one) => one.agent_id === author);
    if (!isOwn) return [];
    const others = agents.filter(({ role, triad }) => role === 'verifier' && triad === undefined);
    return [
      {
        rule: 'DP23',
        path: `tasks/${at}/validation/verified_by`,
        message: `"${author}" of the triad "${agent_name}" would verify its own work of "${task_id}"`,
        cure: `Give the seat to another agent${others.length === 0 ? '' : `, or name another verifier: ${listNames(others.map((one) => one.agent_name))}`}`,
      },
    ];
  });
}
