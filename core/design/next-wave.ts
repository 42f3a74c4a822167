/**
 * Chooses the tasks of a plan that work next, as delegations of a wave.
 *
 * Invariants:
 *   WN1. A task starts once everything that it depends on is verified or in the same wave.
 *   WN2. What depends on a proof of concept, directly or through others, is in no wave with it: its evidence is judged
 *        first.
 *   WN3. A wave has at most the given number of delegations, and with each one all that it depends on.
 *   WN4. A task that is done again has a delegation_id of its own, from which its task is found. No other task has it.
 *   WN5. Each delegation requires the results of all that its task depends on or reads from; of a task whose evidence others
 *        met, theirs.
 *   WN6. The counted waves of a plan are those that carry it out when each task is verified in its wave.
 *   WN7. Each delegation is verified by the verifier of its task, after the checks of its evidence.
 *   WN8. What was done once is not done again until the plan gives the task something else to do. Work that never began, was
 *        stopped, or crashed and is wanted again, was not done.
 *   WN9. A verified task whose result rests on what no longer holds is done again, before what depends on it, as a redo of
 *        that result. A redo that was done itself counts as what WN8 says.
 *   WN10. Open proofs of concept, and what they depend on, come before all other tasks.
 */
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { CriterionState } from '../../contracts/criterion.ts';
import type { Adaptation } from '../../contracts/adaptation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { VerificationOrder } from '../../contracts/verification.ts';
import { nameTask } from '../questions/repeated-questions.ts';
import { listLayers, listUpstream } from './graph.ts';
import { renderTaskInstructions } from './templates.ts';

/** Work on a plan so far, by delegation_id. */
export interface PlanProgress {
  /** Delegations whose task is verified; of several of one task the last one counts. */
  readonly verified: readonly string[];
  /** Delegations of other work that met the evidence of a verified task, by task_id. Absent: each met its own. */
  readonly instead?: ReadonlyMap<string, readonly string[]>;
  /** Delegations whose results rest on what no longer holds. Absent: none does. */
  readonly stale?: readonly string[];
  readonly dispatched: readonly string[];
}

/** @returns delegations in an order in which each comes after what it depends on; empty when no task can start. */
export function nextWave(
  plan: CoordinationPlan,
  { verified, dispatched, stale = [], instead = new Map() }: PlanProgress,
  delegationsMax: number,
): Delegation[] {
  const { tasks } = plan;
  const results = new Map<string, string>();
  for (const id of verified) {
    const task = findTask(tasks, id);
    if (task !== undefined) results.set(task.task_id, id);
  }
  const redone = new Map([...results].filter(([, id]) => stale.includes(id)));
  for (const task_id of redone.keys()) results.delete(task_id);
  const wave = chooseTasks(tasks, new Set(results.keys()), delegationsMax);
  const ids = new Map<string, string>();
  const given = new Set(dispatched);
  const planned = new Set(tasks.map(({ task_id }) => task_id));
  for (const { task_id } of wave) {
    const isTaken = (id: string): boolean => given.has(id) || (id !== task_id && planned.has(id));
    const id = freeDelegationId(task_id, isTaken);
    given.add(id);
    ids.set(task_id, id);
  }
  return wave.map((task) => toDelegation(plan, task, { ids, results, redone, instead }));
}

/** @returns 0 for a plan whose dependencies have no order. */
export function countWaves(
  { tasks }: Pick<CoordinationPlan, 'tasks'>,
  delegationsMax: number,
): number {
  const done = new Set<string>();
  for (let waves = 0; ; waves += 1) {
    const wave = chooseTasks(tasks, done, delegationsMax);
    if (wave.length === 0) return done.size === tasks.length ? waves : 0;
    for (const { task_id } of wave) done.add(task_id);
  }
}

function chooseTasks(
  tasks: readonly PlanTask[],
  done: ReadonlySet<string>,
  countMax: number,
): PlanTask[] {
  const upstream = listUpstream(tasks);
  const isOpen = ({ task_id }: PlanTask): boolean => !done.has(task_id);
  const open = tasks.filter(isOpen);
  const openProofs = new Set(
    open.filter((task) => task.proof_of_concept !== null).map(({ task_id }) => task_id),
  );
  const isFirst = ({ task_id }: PlanTask): boolean =>
    openProofs.has(task_id) || [...openProofs].some((id) => upstream.get(id)?.has(task_id));
  // Layers put each task after its dependencies, so a cut at any place leaves none without them.
  const layered = listLayers(open).flat();
  const ordered = [...layered.filter(isFirst), ...layered.filter((task) => !isFirst(task))];
  const chosen = new Set<string>();
  for (const task of ordered) {
    if (chosen.size >= countMax) break;
    const mayStart =
      task.depends_on.every((id) => done.has(id) || chosen.has(id)) &&
      ![...(upstream.get(task.task_id) ?? [])].some((id) => openProofs.has(id));
    if (mayStart) chosen.add(task.task_id);
  }
  return ordered.filter(({ task_id }) => chosen.has(task_id));
}

function toDelegation(
  plan: CoordinationPlan,
  task: PlanTask,
  names: {
    /** delegation_ids of this wave by task_id. */
    readonly ids: ReadonlyMap<string, string>;
    /** delegation_ids of verified results by task_id. */
    readonly results: ReadonlyMap<string, string>;
    /** delegation_ids of results that no longer hold, by task_id. */
    readonly redone: ReadonlyMap<string, string>;
    readonly instead: ReadonlyMap<string, readonly string[]>;
  },
): Delegation {
  const { task_id, title, agent, depends_on, inputs, validation } = task;
  const needed = [...new Set([...depends_on, ...inputs.flatMap(({ from }) => from ?? [])])];
  const own = needed.flatMap((id) => names.ids.get(id) ?? []);
  const known = needed.flatMap((id) => names.instead.get(id) ?? names.results.get(id) ?? []);
  const redoes = names.redone.get(task_id);
  return {
    delegation_id: names.ids.get(task_id) ?? task_id,
    agent_id: plan.agents.find(({ agent_name }) => agent_name === agent)?.agent_id ?? agent,
    title,
    task_description: renderTaskInstructions(plan, task),
    acceptance_criteria: validation.evidence.map(({ evidence_id, description }) => ({
      criterion_id: evidence_id,
      description: description.slice(0, criterionCharsMax),
    })),
    required_inputs: [...new Set([...known, ...own])],
    provided_inputs: [...new Set(known)],
    depends_on: own,
    produces: [],
    ...(own.length > 0 && { needs: 'met' }),
    ...(redoes !== undefined && { redoes, replaces: redoes }),
    executor: { kind: 'agent' },
    verification: orderVerification(plan, task),
  };
}

/** Orders the verification of a task by the verifier of its plan. */
function orderVerification(plan: CoordinationPlan, { validation }: PlanTask): VerificationOrder {
  const { verified_by, evidence } = validation;
  const verifier = plan.agents.find(({ agent_name }) => agent_name === verified_by);
  return {
    verified_by: verifier?.agent_id ?? verified_by,
    ...(verifier?.triad !== undefined && { triad: verifier.triad }),
    checks: evidence.flatMap(({ evidence_id, check }) =>
      check === undefined ? [] : [{ criterion_id: evidence_id, check }],
    ),
  };
}

/** Equal to the contract's limit for a criterion. The instructions have the whole description. */
const criterionCharsMax = 1_000;

/** Most characters of the slug in a task_id. */
const slugCharsMax = 28;

/** A task_id is the delegation_id of its first attempt; later ones have their number before the time. */
function freeDelegationId(task_id: string, isTaken: (id: string) => boolean): string {
  for (let attempt = 1; ; attempt += 1) {
    const id = nameAttempt(task_id, attempt);
    if (!isTaken(id)) return id;
  }
}

function nameAttempt(task_id: string, attempt: number): string {
  if (attempt === 1) return task_id;
  const at = task_id.lastIndexOf('_');
  const end = `-${attempt}`;
  return `${task_id.slice(0, Math.min(at, slugCharsMax - end.length))}${end}${task_id.slice(at)}`;
}

/**
 * Returns what the delegation_ids of a task have in common. Where two tasks have the same, an attempt at one may look like
 * one at the other.
 */
export function nameAttempts(task_id: string): string {
  return nameTask(nameAttempt(nameTask(task_id), 2));
}

/** Work on a plan that has ended. */
export interface EndedWork {
  readonly delegation_id: string;
  readonly wave: number;
  readonly status: DelegationOutcome['status'];
}

/**
 * Lists the task_ids of what was done.
 *
 * @param again delegation_ids that crashed and are wanted again. @param changes Changes of the plan during the work.
 */
export function listDone(
  tasks: readonly Pick<PlanTask, 'task_id'>[],
  ended: readonly EndedWork[],
  again: readonly string[],
  changes: readonly Pick<Adaptation, 'wave' | 'changed_tasks'>[],
): ReadonlySet<string> {
  const done = ended.flatMap(({ delegation_id, wave, status }) => {
    const task_id = findTask(tasks, delegation_id)?.task_id;
    const isDone = status === 'completed' || status === 'failed';
    if (task_id === undefined || !isDone || again.includes(delegation_id)) return [];
    const isChangedSince = changes.some(
      (one) => one.wave >= wave && one.changed_tasks.includes(task_id),
    );
    return isChangedSince ? [] : [task_id];
  });
  return new Set(done);
}

/** Lists the tasks of which all evidence is there. */
export function findVerified<T extends Pick<PlanTask, 'validation'>>(
  tasks: readonly T[],
  criteria: readonly Pick<CriterionState, 'criterion_id' | 'state'>[],
): T[] {
  const done = new Set(
    criteria.filter(({ state }) => state !== 'open').map(({ criterion_id }) => criterion_id),
  );
  return tasks.filter(({ validation }) =>
    validation.evidence.every(({ evidence_id }) => done.has(evidence_id)),
  );
}

/** Finds the task that a delegation does; undefined for one that is not of this plan. */
export function findTask<T extends Pick<PlanTask, 'task_id'>>(
  tasks: readonly T[],
  delegation_id: string,
): T | undefined {
  const attempt = Number(/-(\d{1,4})_\d{10}$/.exec(delegation_id)?.[1] ?? 1);
  return (
    tasks.find(({ task_id }) => task_id === delegation_id) ??
    tasks.find(({ task_id }) => nameAttempt(task_id, attempt) === delegation_id)
  );
}
