/**
 * Orders the tasks of one reply, and selects the results that they get.
 *
 * Invariants:
 *   OT1. An input of a call is finished before its task starts.
 *   OT2. A task that mentions another one of the reply comes after it, unless that would make a cycle; then it does not
 *        wait.
 *   OT3. In sequence, each task comes after the one before it in the reply and gets the results of all before it.
 */
import { findCycle } from '../schedule/dependencies.ts';

/** A call that has not been refused. */
export interface OrderedCall {
  readonly delegation_id: string;
  /** Inputs that the leader named, resolved to ids. Some may be tasks of earlier replies, or from outside the team. */
  readonly needs: readonly string[];
  /** delegation_ids of the reply that its text mentions. */
  readonly mentions: readonly string[];
}

export interface TaskOrder {
  readonly inputs: readonly string[];
  readonly after: readonly string[];
}

/**
 * @param calls Calls of one reply, in its order, without a cycle among their needs. @returns the order by
 * delegation_id.
 */
export function orderTasks(
  calls: readonly OrderedCall[],
  isParallel: boolean,
): ReadonlyMap<string, TaskOrder> {
  const ids = new Set(calls.map(({ delegation_id }) => delegation_id));
  const edges = new Map(
    calls.map(({ delegation_id, needs }) => [delegation_id, needs.filter((id) => ids.has(id))]),
  );
  for (const { delegation_id, mentions } of calls) {
    for (const other of mentions) addEdge(edges, delegation_id, other);
  }
  if (!isParallel) chain(edges, calls);
  return new Map(
    calls.map(({ delegation_id, needs }) => {
      const after = edges.get(delegation_id) ?? [];
      return [delegation_id, { inputs: [...new Set([...needs, ...after])], after }];
    }),
  );
}

/** Puts each call after all before it, as far as needs allow: a call that needs a later one comes after that. */
function chain(edges: Map<string, readonly string[]>, calls: readonly OrderedCall[]): void {
  for (const [at, { delegation_id }] of calls.entries()) {
    for (const earlier of calls.slice(0, at)) addEdge(edges, delegation_id, earlier.delegation_id);
  }
}

function addEdge(edges: Map<string, readonly string[]>, from: string, to: string): void {
  const before = edges.get(from) ?? [];
  if (from === to || !edges.has(to) || before.includes(to)) return;
  edges.set(from, [...before, to]);
  if (findCycle(edges) !== null) edges.set(from, before);
}
