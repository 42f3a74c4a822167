/**
 * A plan as a graph of its tasks.
 *
 * Invariants:
 *   GP1. A task's layer is the first in which all it depends on is in an earlier one. In a cycle each task still has a layer.
 *   GP2. Drawings contain texts of the plan as text only: none ends its label, and none becomes markup.
 *   GP3. Each task is drawn once, and each dependency on a task of the plan once.
 */
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import { cleanLine } from '../text/cut-text.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import { countOf } from '../text/format.ts';
import type { ModeChoice } from '../../contracts/limits.ts';
import { isPerson } from '../questions/answer-kinds.ts';

type Linked = Pick<PlanTask, 'task_id' | 'depends_on'>;

/** Lists for each task what it depends on, directly or through others. Names of no task lead nowhere, and cycles end. */
export function listUpstream(tasks: readonly Linked[]): Map<string, ReadonlySet<string>> {
  // Of two tasks with one id, which is a finding, the first one counts.
  const firstCounts = tasks.toReversed();
  const byId = new Map(firstCounts.map((task) => [task.task_id, task]));
  return new Map(
    firstCounts.map(({ task_id, depends_on }) => {
      const seen = new Set<string>();
      const queue = [...depends_on];
      for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
        const next = byId.get(id);
        if (next === undefined || seen.has(id)) continue;
        seen.add(id);
        queue.push(...next.depends_on);
      }
      return [task_id, seen];
    }),
  );
}

/** Groups tasks into steps: all of one step may work at the same time once the earlier steps are verified. */
export function listLayers<T extends Linked>(tasks: readonly T[]): T[][] {
  const layers: T[][] = [];
  const placed = new Set<string>();
  const known = new Set(tasks.map(({ task_id }) => task_id));
  let rest = [...tasks];
  while (rest.length > 0) {
    const free = rest.filter(({ depends_on }) =>
      depends_on.every((id) => placed.has(id) || !known.has(id)),
    );
    // In a cycle no task is free: the first one in the plan goes ahead, so that the plan can still be shown.
    const layer = free.length > 0 ? free : rest.slice(0, 1);
    layers.push(layer);
    for (const { task_id } of layer) placed.add(task_id);
    rest = rest.filter((task) => !layer.includes(task));
  }
  return layers;
}

const labelCharsMax = 60;

/** Draws the plan as a Mermaid flowchart, for Markdown. */
export function drawMermaid({ tasks }: CoordinationPlan): string {
  const names = new Map(tasks.map(({ task_id }, at) => [task_id, `t${at + 1}`]));
  const nodes = tasks.map(({ task_id, title, agent, proof_of_concept }) => {
    const label = `${mermaidText(title)}<br/>${mermaidText(agent)}`;
    const name = names.get(task_id) ?? '';
    return proof_of_concept === null ? `  ${name}["${label}"]` : `  ${name}{{"${label}"}}`;
  });
  const edges = tasks.flatMap(({ task_id, depends_on }) =>
    [...new Set(depends_on)].flatMap((id) =>
      names.has(id) ? [`  ${names.get(id)} --> ${names.get(task_id)}`] : [],
    ),
  );
  return ['flowchart TD', ...nodes, ...edges].join('\n');
}

/** Writes every character that is neither a letter nor a digit as an entity, so that no label means anything to Mermaid. */
function mermaidText(text: string): string {
  return cleanLine(text, labelCharsMax).replaceAll(
    /[^\p{L}\p{N} ]/gu,
    (one) => `#${one.codePointAt(0) ?? 0};`,
  );
}

/**
 * Chooses between direct and designed mode (seed 003, Q8).
 *
 * Invariants:
 *   MO1. A task for one or two agents, without dependencies and risky assumptions, is done directly.
 *   MO2. More than two agents, any dependency, or any risky assumption each call for a design.
 *   MO3. The reasons name every number that decided, and in direct mode all of them.
 */

/** Numbers of a task, as far as they are known before it is designed. */
interface ModeNumbers {
  /** Different agents that would work on it. */
  readonly agents: number;
  /** Hand-offs from one agent to another. */
  readonly dependencies: number;
  /** Assumptions that the work relies on and that may be wrong. */
  readonly risky_assumptions: number;
}

/**
 * Counts the numbers of a first plan. A triad or a team counts as the agent that answers for it. An answer that no person
 * gave is an assumption that the plan relies on.
 */
export function countForMode(
  delegations: readonly Pick<DelegationOutline, 'agent_id' | 'depends_on'>[],
  answers: readonly Pick<KnownAnswer, 'answered_by'>[],
): ModeNumbers {
  return {
    agents: new Set(delegations.map(({ agent_id }) => agent_id)).size,
    dependencies: delegations.reduce((sum, { depends_on }) => sum + depends_on.length, 0),
    risky_assumptions: answers.filter(({ answered_by }) => !isPerson(answered_by)).length,
  };
}

/** Most agents that one planner keeps in view without a design. */
const directAgentsMax = 2;

export function chooseMode(numbers: ModeNumbers): ModeChoice {
  const { agents, dependencies, risky_assumptions } = numbers;
  const criteria = [
    { said: countOf(agents, 'agent'), max: directAgentsMax, is: agents },
    { said: countOf(dependencies, 'dependency', 'dependencies'), max: 0, is: dependencies },
    { said: countOf(risky_assumptions, 'risky assumption'), max: 0, is: risky_assumptions },
  ];
  const describe = ({ said, max }: (typeof criteria)[number]): string =>
    `${said} (directly: at most ${max})`;
  const over = criteria.filter(({ is, max }) => is > max);
  return over.length > 0
    ? { mode: 'designed', reasons: over.map(describe) }
    : { mode: 'direct', reasons: criteria.map(describe) };
}
