/**
 * Checks a plan before anything is paid for (seed 003, "Verification Checklist"). Code checks what can be counted or compared;
 * what needs judgment is left to the design verifier.
 *
 * Invariants:
 *   DP1. A task_id has the form {slug}_{unix epoch seconds} and is unique. It is none that the engine may give to another
 *        attempt at a task, nor to a decision of the solution architect.
 *   DP2. Each agent_name is unique in the roster.
 *   DP3. Each agent of the roster is a registered agent that takes tasks, or one that the plan drafts; a draft takes the
 *        place of no registered agent.
 *   DP4. The agent of a task is in the roster, and no verifier: a verifier has no task of its own.
 *   DP5. Each agent of the roster works on a task or verifies one, but for a solution architect: it decides questions.
 *   DP6. A task depends on other tasks of the plan.
 *   DP7. Dependencies have an order; a cycle is shown A→B→A, and so is each other one that shares no task with it.
 *   DP8. Instructions contain no place that was left to be written. Titles, criteria of proofs of concept, and risks contain no
 *        hole of a template, and are no bare placeholder.
 *   DP9. Rendered instructions are no longer than a delegation's task may be.
 *   DP10. A path is relative, has "/" between its parts, and leads to no other place. An output can be written by the tools
 *        for files; one that is hidden, but not private, by an author with a tool of another kind.
 *   DP11. Each task has an output file.
 *   DP12. A file in the folder of an agent, agents/<agent_name>/, is written by that agent, into task_output/.
 *   DP13. Tasks that write the same file have an order.
 *   DP14. An input that a task writes is an output of that task.
 *   DP15. A task that reads an output depends on its author.
 *   DP16. Author and reader of a file name the same format.
 *   DP17. An input that exists before the plan is written by no other task, unless that one depends on its reader. Nor is
 *        one that a task writes written once more before it is read.
 *   DP18. Files have an order: no task reads what follows from its own output.
 *   DP19. Each task has evidence.
 *   DP20. Evidence is measurable: it names what is seen, and not only how good that is.
 *   DP21. Each evidence_id is unique in the plan.
 *   DP22. The verifier of a task is a verifier of the roster.
 *   DP23. No registered or drafted agent verifies its own work, also not under another agent_name or as the member of a triad.
 *   DP24. A proof of concept tests a risk of the plan.
 *   DP25. Each proof of concept has a task that depends on it.
 *   DP26. Each risk_id is unique.
 *   DP27. The plan says what happens when a task is blocked.
 *   DP28. Someone of the roster works as each drafted agent.
 *   DP29. A file of the workspace has an author with a tool that makes files.
 *   DP30. Only a verifier may be a triad: its members fit its type and take tasks, and the one that writes is the verifier.
 *   DP31. A check by code can pass: it names places of the workspace, a file that its author can make, and a schema whose
 *        parts all exist.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import { internalAgentIds, plannerAgentId } from '../../contracts/names.ts';
import { isDecisionTask } from '../ids.ts';
import { findCycles } from '../schedule/dependencies.ts';
import { listNames } from '../text/list-names.ts';
import { checkChecks, checkEvidence, findTwice } from './check-plan-evidence.ts';
import { checkFiles } from './check-plan-files.ts';
import { checkTexts } from './check-plan-texts.ts';
import { checkVerifiers } from './check-plan-verifiers.ts';
import { nameAttempts } from './next-wave.ts';

/** @returns every finding at once; empty for a good plan. */
export function checkCoordinationPlan(
  plan: CoordinationPlan,
  { agents }: { readonly agents: readonly AgentSummary[] },
): PlanFinding[] {
  return [
    ...checkRoster(plan, agents),
    ...checkTaskIds(plan),
    ...checkAssignments(plan),
    ...checkDependencies(plan),
    ...checkTexts(plan),
    ...checkFiles(plan, agents),
    ...checkEvidence(plan),
    ...checkChecks(plan, agents),
    ...checkVerifiers(plan, listWorking(plan, agents)),
    ...checkRisks(plan),
  ];
}

/** A plan with all its findings. */
interface CheckedPlan {
  readonly plan: CoordinationPlan;
  readonly findings: readonly PlanFinding[];
}

/**
 * Lists the findings of a plan that its change during the work has made. The plan before was approved with the others, and
 * often no operation could answer them. A file that a task has read may be written once more (DP17).
 *
 * @param verified task_ids of all that is verified.
 */
export function listNewFindings(
  before: CheckedPlan,
  after: CheckedPlan,
  verified: readonly string[],
): PlanFinding[] {
  const known = new Set(before.findings.map((one) => keyOf(one, before.plan)));
  return after.findings.filter((one) => {
    const at = /^tasks\/(\d+)\//.exec(one.path)?.[1];
    const reader = at === undefined ? undefined : after.plan.tasks[Number(at)]?.task_id;
    const wasRead = one.rule === 'DP17' && reader !== undefined && verified.includes(reader);
    return !wasRead && !known.has(keyOf(one, after.plan));
  });
}

/** Returns what two versions of a plan say alike of a finding: the name stands for the place, which shifts. */
function keyOf({ rule, path, message }: PlanFinding, plan: CoordinationPlan): string {
  const names: Readonly<Record<string, readonly string[]>> = {
    agents: plan.agents.map(({ agent_name }) => agent_name),
    new_agents: plan.new_agents.map(({ agent_id }) => agent_id),
    tasks: plan.tasks.map(({ task_id }) => task_id),
    risks: plan.risks.map(({ risk_id }) => risk_id),
  };
  const [list = '', at = '', ...rest] = path.split('/');
  return JSON.stringify([rule, message, list, names[list]?.[Number(at)] ?? at, ...rest]);
}

const internal: ReadonlySet<string> = new Set([plannerAgentId, ...internalAgentIds]);

/** Lists the agents that take tasks, the plan's drafts last. */
function listWorking(
  { new_agents }: CoordinationPlan,
  agents: readonly AgentSummary[],
): readonly string[] {
  const registered = agents.filter(
    ({ agent_id, only_leads }) => !internal.has(agent_id) && only_leads !== true,
  );
  return [...registered, ...new_agents].map(({ agent_id }) => agent_id);
}

function checkRoster(plan: CoordinationPlan, agents: readonly AgentSummary[]): PlanFinding[] {
  const working = listWorking(plan, agents);
  const drafted = plan.new_agents.map(({ agent_id }) => agent_id);
  const busy = new Set(plan.tasks.flatMap((task) => [task.agent, task.validation.verified_by]));
  return [
    ...findTwice(plan.agents, ({ agent_name }) => agent_name).map(({ at, name }) => ({
      rule: 'DP2',
      path: `agents/${at}/agent_name`,
      message: `two agents are called "${name}"`,
      cure: 'Give one of them another agent_name, or remove it',
    })),
    ...plan.agents.flatMap(({ agent_id }, at) =>
      working.includes(agent_id)
        ? []
        : [
            {
              rule: 'DP3',
              path: `agents/${at}/agent_id`,
              message: `no agent "${agent_id}" takes tasks`,
              cure: `Name one of ${listNames(working)}, or draft it in new_agents`,
            },
          ],
    ),
    ...drafted.flatMap((agent_id, at): PlanFinding[] => {
      const path = `new_agents/${at}/agent_id`;
      const isTaken = internal.has(agent_id) || agents.some((one) => one.agent_id === agent_id);
      if (isTaken || drafted.indexOf(agent_id) !== at) {
        const message = `an agent "${agent_id}" exists already`;
        return [{ rule: 'DP3', path, message, cure: 'Leave the draft out, or rename it' }];
      }
      if (plan.agents.some((one) => one.agent_id === agent_id)) return [];
      const message = `nobody of the roster works as "${agent_id}"`;
      return [{ rule: 'DP28', path, message, cure: 'Leave the draft out, or give it a place' }];
    }),
    ...plan.agents.flatMap(({ agent_name, role }, at) =>
      busy.has(agent_name) || role === 'solution_architect'
        ? []
        : [
            {
              rule: 'DP5',
              path: `agents/${at}`,
              message: `"${agent_name}" has no task and verifies none`,
              cure: 'Give it a task or one to verify, or remove it from the roster',
            },
          ],
    ),
  ];
}

/** Equal to the contract's form of a task_id. */
const taskIdForm = /^[a-z0-9][a-z0-9_-]{0,27}_[0-9]{10}$/;

function checkTaskIds({ tasks }: CoordinationPlan): PlanFinding[] {
  const ids = tasks.map(({ task_id }) => task_id);
  const names = ids.map(nameAttempts);
  return ids.flatMap((id, at): PlanFinding[] => {
    const fault = (message: string, cure: string): PlanFinding[] => [
      { rule: 'DP1', path: `tasks/${at}/task_id`, message, cure },
    ];
    if (ids.indexOf(id) !== at) {
      return fault(`two tasks have the task_id "${id}"`, 'Give one of them another time or slug');
    }
    if (!taskIdForm.test(id)) {
      const cure = 'Write {slug}_{unix epoch seconds}, such as "create_user_table_1727539200"';
      return fault(`"${id}" is no task_id`, cure);
    }
    if (isDecisionTask(id)) {
      const message = `"${id}" is the name of a decision of the solution architect`;
      return fault(message, 'Give the task another slug');
    }
    const alike = ids[names.indexOf(nameAttempts(id))] ?? id;
    return alike === id
      ? []
      : fault(
          `"${id}" and "${alike}" may be two attempts at one task: a later one has its number before the time`,
          'Give one of them another time, or a slug that differs in more than a number at its end',
        );
  });
}

function checkAssignments({ agents, tasks }: CoordinationPlan): PlanFinding[] {
  const names = agents.map(({ agent_name }) => agent_name);
  const doers = agents.flatMap(({ agent_name, role }) => (role === 'verifier' ? [] : agent_name));
  return tasks.flatMap(({ agent }, at) => {
    if (doers.includes(agent)) return [];
    const message = names.includes(agent)
      ? `"${agent}" is a verifier, which has no task of its own`
      : `the roster has no agent "${agent}"`;
    const cure = `Name one of ${listNames(doers)}, or add an agent to the roster`;
    return [{ rule: 'DP4', path: `tasks/${at}/agent`, message, cure }];
  });
}

function checkDependencies({ tasks }: CoordinationPlan): PlanFinding[] {
  const ids = tasks.map(({ task_id }) => task_id);
  const unknown = tasks.flatMap(({ task_id, depends_on }, at) =>
    depends_on.flatMap((id, index) =>
      ids.includes(id) && id !== task_id
        ? []
        : [
            {
              rule: 'DP6',
              path: `tasks/${at}/depends_on/${index}`,
              message:
                id === task_id ? `"${id}" depends on itself` : `the plan has no task "${id}"`,
              cure: `Name one of ${listNames(ids.filter((one) => one !== task_id))}, or leave it out`,
            },
          ],
    ),
  );
  const cycles = findCycles(
    new Map(tasks.map((task) => [task.task_id, otherTasks(task.task_id, task.depends_on)])),
  );
  const circular = cycles.map((cycle) => ({
    rule: 'DP7',
    path: `tasks/${ids.indexOf(cycle[0] ?? '')}/depends_on`,
    message: `the dependencies form a cycle: ${cycle.join('→')}`,
    cure: 'Remove one of these dependencies, or merge the tasks',
  }));
  return [...unknown, ...circular];
}

/** A dependency on the task itself has a finding of its own. */
function otherTasks(task_id: string, depends_on: readonly string[]): string[] {
  return depends_on.filter((id) => id !== task_id);
}

function checkRisks({ risks, tasks }: CoordinationPlan): PlanFinding[] {
  const ids = risks.map(({ risk_id }) => risk_id);
  const twice = findTwice(risks, ({ risk_id }) => risk_id).map(({ at, name }) => ({
    rule: 'DP26',
    path: `risks/${at}/risk_id`,
    message: `two risks have the id "${name}"`,
    cure: 'Give one of them another risk_id',
  }));
  const isNeeded = (task: PlanTask): boolean =>
    tasks.some(({ depends_on }) => depends_on.includes(task.task_id));
  const proofs = tasks.flatMap((task, at): PlanFinding[] => {
    const { proof_of_concept: proof, task_id } = task;
    if (proof === null) return [];
    const findings: PlanFinding[] = [];
    if (!ids.includes(proof.risk_id)) {
      findings.push({
        rule: 'DP24',
        path: `tasks/${at}/proof_of_concept/risk_id`,
        message: `the plan has no risk "${proof.risk_id}"`,
        cure: `Name one of ${listNames(ids)}, or add the risk`,
      });
    }
    if (!isNeeded(task)) {
      findings.push({
        rule: 'DP25',
        path: `tasks/${at}`,
        message: `no task waits for the proof of concept "${task_id}"`,
        cure: 'Let the tasks that rely on its assumption depend on it, or remove it',
      });
    }
    return findings;
  });
  return [...twice, ...proofs];
}
