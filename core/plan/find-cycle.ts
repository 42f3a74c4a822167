/**
 * Finds a cycle among dependencies.
 *
 * Invariants:
 *   FC1. What is returned is a cycle: its ends are equal, and each name depends on the next one.
 *   FC2. Null is returned only when there is no cycle.
 */

/**
 * @param edges From a name to the names it depends on. Names without an entry depend on nothing.
 * @returns the first cycle in the order of the map, as [A, B, A], or null.
 */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const finished = new Set<string>();
  for (const start of edges.keys()) {
    const cycle = findCycleFrom(start, edges, finished);
    if (cycle !== null) return cycle;
  }
  return null;
}

interface Step {
  readonly name: string;
  readonly next: Iterator<string>;
}

/** Walks with a stack of its own: a chain of thousands must not overflow the caller's. */
function findCycleFrom(
  start: string,
  edges: ReadonlyMap<string, readonly string[]>,
  finished: Set<string>,
): string[] | null {
  if (finished.has(start)) return null;
  const enter = (name: string): Step => ({ name, next: (edges.get(name) ?? []).values() });
  const path: Step[] = [enter(start)];
  const onPath = new Set([start]);
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const next = step.next.next();
    if (next.done === true) {
      finished.add(step.name);
      onPath.delete(step.name);
      path.pop();
    } else if (onPath.has(next.value)) {
      const names = path.map((s) => s.name);
      return [...names.slice(names.indexOf(next.value)), next.value];
    } else if (!finished.has(next.value)) {
      path.push(enter(next.value));
      onPath.add(next.value);
    }
  }
  return null;
}
