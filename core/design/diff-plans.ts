/**
 * Compares two plans, or two versions of one.
 *
 * Invariants:
 *   DF1. Equal plans have no difference, and different ones have at least one.
 *   DF2. An entry is recognised by its id wherever it stands: a moved entry is neither added nor removed.
 *   DF3. A difference is as small as ids allow: a piece of evidence, a file, a field of one of them.
 */
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { isRecord } from '../json.ts';

/** Entry or field of a plan that differs. */
export interface PlanDifference {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  /** Place as a path with ids: `tasks/create_user_table_1727539200/instructions`. */
  readonly path: string;
  /** Null where the entry was added. Texts and names as they are, everything else as JSON. */
  readonly before: string | null;
  /** Null where the entry was removed. */
  readonly after: string | null;
}

type Entries = readonly (readonly [id: string, entry: object])[];

export function diffPlans(before: CoordinationPlan, after: CoordinationPlan): PlanDifference[] {
  const { agents, new_agents, tasks, risks, ...rest } = before;
  const {
    agents: agentsAfter,
    new_agents: newAfter,
    tasks: tasksAfter,
    risks: risksAfter,
    ...restAfter
  } = after;
  return [
    ...diffFields('', rest, restAfter),
    ...diffEntries(
      'agents',
      agents.map((one) => [one.agent_name, one]),
      agentsAfter.map((one) => [one.agent_name, one]),
    ),
    ...diffEntries(
      'new_agents',
      new_agents.map((one) => [one.agent_id, one]),
      newAfter.map((one) => [one.agent_id, one]),
    ),
    ...diffEntries(
      'tasks',
      tasks.map((one) => [one.task_id, one]),
      tasksAfter.map((one) => [one.task_id, one]),
    ),
    ...diffEntries(
      'risks',
      risks.map((one) => [one.risk_id, one]),
      risksAfter.map((one) => [one.risk_id, one]),
    ),
  ];
}

function diffEntries(list: string, before: Entries, after: Entries): PlanDifference[] {
  const earlier = new Map(before);
  const later = new Map(after);
  const removed = before
    .filter(([id]) => !later.has(id))
    .map(([id, entry]): PlanDifference => {
      return { kind: 'removed', path: `${list}/${id}`, before: describe(entry), after: null };
    });
  const others = after.flatMap(([id, entry]): PlanDifference[] => {
    const known = earlier.get(id);
    return known === undefined
      ? [{ kind: 'added', path: `${list}/${id}`, before: null, after: describe(entry) }]
      : diffFields(`${list}/${id}/`, known, entry);
  });
  return [...removed, ...others, ...diffOrder(list, before, after)];
}

function diffOrder(list: string, before: Entries, after: Entries): PlanDifference[] {
  const idsOf = (entries: Entries, others: Entries): string =>
    entries
      .map(([id]) => id)
      .filter((id) => others.some(([other]) => other === id))
      .join(', ');
  const order = { before: idsOf(before, after), after: idsOf(after, before) };
  return order.before === order.after ? [] : [{ kind: 'moved', path: list, ...order }];
}

function diffFields(path: string, before: object, after: object): PlanDifference[] {
  const earlier = new Map<string, unknown>(Object.entries(before));
  const later = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((name) =>
    diffValues(`${path}${name}`, earlier.get(name), later.get(name)),
  );
}

/** Compares two values of a field: objects by their fields, lists by the ids of their entries, anything else as a whole. */
function diffValues(path: string, before: unknown, after: unknown): PlanDifference[] {
  const values = { before: describe(before), after: describe(after) };
  if (values.before === values.after) return [];
  if (isRecord(before) && isRecord(after)) return diffFields(`${path}/`, before, after);
  const entries = { before: listEntries(before), after: listEntries(after) };
  return entries.before !== null && entries.after !== null
    ? diffEntries(path, entries.before, entries.after)
    : [{ kind: 'changed', path, ...values }];
}

/** Returns the entries of a list, or null where it is none, or ids don't tell its entries apart. */
function listEntries(value: unknown): Entries | null {
  if (!Array.isArray(value) || !value.every(isRecord)) return null;
  const ids = value.map((entry) => entryIds.flatMap((name) => entry[name] ?? []).at(0));
  const entries = value.flatMap((entry, at) => {
    const id = ids[at];
    return typeof id === 'string' && ids.indexOf(id) === at ? [[id, entry] as const] : [];
  });
  return entries.length === value.length ? entries : null;
}

/** Fields that name an entry in a list below a task or an agent. */
const entryIds = ['evidence_id', 'path', 'name'] as const;

function describe(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(sortKeys(value)) ?? '';
}

/** Sorts keys at every level, so that their order in a file is no difference. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sortKeys(one)]));
}
