/**
 * Links between delegations or tasks: dependencies, cycles among them, and replaced results.
 *
 * Invariants:
 *   FC1. A returned cycle is one: its ends are equal, and each name depends on the next one.
 *   FC2. Null is returned only when there is no cycle.
 *   FC3. Of all cycles those are listed that share no name with one before, in the order in which they are found.
 *   UP1. Each delegation that can be reached is there once, in the order of the map; the delegation itself is not.
 *   RE1. A result counts until one that replaces it is there; then only the newest of them counts.
 *   RE2. The newest stands for everything that it replaced, directly or through others. Cycles end.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';

/**
 * Finds a cycle among dependencies.
 *
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

/** Lists cycles among dependencies; empty only when there is none. @param edges As for `findCycle`. */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const left = new Map(edges);
  const cycles: string[][] = [];
  for (let cycle = findCycle(left); cycle !== null; cycle = findCycle(left)) {
    cycles.push(cycle);
    for (const name of cycle) left.delete(name);
  }
  return cycles;
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

interface Linked {
  readonly delegation_id: string;
  readonly depends_on: readonly string[];
}

/**
 * Lists what a delegation depends on, directly or through others.
 *
 * @param byId All delegations of the plan. Names that are not in it lead nowhere, and cycles end.
 */
export function collectUpstream<D extends Linked>(
  delegation: Linked,
  byId: ReadonlyMap<string, D>,
): D[] {
  const seen = new Set<string>();
  const queue = [...delegation.depends_on];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id) || id === delegation.delegation_id) continue;
    seen.add(id);
    queue.push(...(byId.get(id)?.depends_on ?? []));
  }
  return [...byId.values()].filter((other) => seen.has(other.delegation_id));
}

/** Lists what depends on some delegations, directly or through others, in the order of the plan and without them. */
export function listDependents(ids: readonly string[], planned: readonly Linked[]): string[] {
  const reached = new Set(ids);
  const pending = [...ids];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const id = next;
    for (const { delegation_id, depends_on } of planned) {
      if (reached.has(delegation_id) || !depends_on.includes(id)) continue;
      reached.add(delegation_id);
      pending.push(delegation_id);
    }
  }
  const asked = new Set(ids);
  return planned
    .map(({ delegation_id }) => delegation_id)
    .filter((id) => reached.has(id) && !asked.has(id));
}

type Version = Pick<DelegationOutline, 'delegation_id' | 'replaces'>;

/** Keeps the versions that no other of them replaces, in their order. */
export function dropReplaced<V extends Version>(versions: readonly V[]): V[] {
  const replaced = new Set(versions.map((one) => one.replaces));
  return versions.filter(({ delegation_id }) => !replaced.has(delegation_id));
}

/** Keeps the outcomes whose results count: a version that did not complete replaces nothing. */
export function dropReplacedOutcomes<O extends Version & Ended>(outcomes: readonly O[]): O[] {
  const done = outcomes.filter((one) => one.status === 'completed' && one.output_ref !== null);
  const replaced = new Set(done.map((one) => one.replaces));
  return outcomes.filter(({ delegation_id }) => !replaced.has(delegation_id));
}

type Ended = Pick<DelegationOutcome, 'status' | 'output_ref'>;

/** Lists the delegation_ids that a version stands for besides its own, the newest first. */
export function listReplaced({ replaces }: Version, versions: readonly Version[]): string[] {
  const byId = new Map(versions.map((one) => [one.delegation_id, one]));
  const replaced = new Set<string>();
  for (let id = replaces; id !== undefined && !replaced.has(id); id = byId.get(id)?.replaces) {
    replaced.add(id);
  }
  return [...replaced];
}

/**
 * Maps each delegation_id that was replaced, directly or through others, to the version that counts instead: the first of
 * several. Looks at each version a few times, however many there are: a run has hundreds.
 */
export function mapReplaced<V extends Version>(versions: readonly V[]): ReadonlyMap<string, V> {
  const byId = new Map(versions.map((one) => [one.delegation_id, one]));
  const newestOf = new Map<string, V>();
  for (const newest of dropReplaced(versions)) {
    let id = newest.replaces;
    // What a known one replaced is known too.
    while (id !== undefined && !newestOf.has(id)) {
      newestOf.set(id, newest);
      id = byId.get(id)?.replaces;
    }
  }
  return newestOf;
}
