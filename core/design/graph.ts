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
