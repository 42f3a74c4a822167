import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type {
  PlanNextWaveInput,
  PlanNextWaveResult,
  FindWorkInput,
  FindWorkResult,
  RatePlanChangeInput,
  RatePlanChangeResult,
} from '../../contracts/design-activities.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import {
  findTask,
  findVerified,
  listDone,
  nextWave,
  type EndedWork,
} from '../../core/design/next-wave.ts';
import { linkInputs } from '../../core/plan/check-inputs.ts';
import { countOf } from '../../core/text/format.ts';
import { DesignChange } from '../../contracts/design.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { AdaptationCause, WorkedTask } from '../../contracts/adaptation.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import { describePlanChange, ratePlanChange, keysOfProof } from '../../core/design/rate-change.ts';
import { findAnswerConflicts, type FoundConflict } from '../../core/design/architect-task.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { readCoordinationPlan } from '../artifacts/read-reports.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { storePlan } from '../run-record/compose-plan.ts';

/**
 * Returns the next wave of an approved plan. A task that was done once and whose evidence is not there is left to the
 * planner, with all that depends on it, until the plan gives it something else to do or the user wants it again. One whose
 * result rests on what no longer holds is done again, once: after a failure only when the user wants it.
 */
export async function planNextWave(
  store: ArtifactStore,
  input: PlanNextWaveInput,
): Promise<PlanNextWaveResult> {
  const [plan, record] = await Promise.all([
    readCoordinationPlan(store, input.plan_ref),
    readRecord(store, input.record_ref),
  ]);
  const verified = listVerified(plan, record);
  const dispatched = input.delegation_ids;
  const stale = record.stale
    .filter(({ redone_by }) => redone_by === null)
    .map(({ delegation_id }) => delegation_id);
  const instead = listInstead(plan, record);
  const ready = nextWave(plan, { verified, instead, dispatched, stale }, plan.tasks.length);
  const ended = listEnded(record, dispatched);
  const { adaptations = [] } = record.design ?? {};
  // Of a result that no longer holds, what was done after it counts: a redo that failed.
  const triedAfter = (redoes?: string): ReadonlySet<string> =>
    listDone(
      plan.tasks,
      ended.slice(redoes === undefined ? 0 : dispatched.indexOf(redoes) + 1),
      input.again ?? [],
      adaptations,
    );
  const delegations = dropRepeated(ready, plan, triedAfter).slice(0, input.max_delegations);
  const { max_parallel } = plan;
  if (delegations.length === 0) return { plan: null, max_parallel };
  const wave: WavePlan = {
    summary: `The next ${countOf(delegations.length, 'task')} of the approved plan.`,
    delegations: linkInputs(keepKnown(delegations, input.known_inputs), input.known_inputs),
    needs_user_input: false,
    user_questions: [],
  };
  const sessions = listBegun(record, delegations);
  return {
    plan: await storePlan(store, wave),
    max_parallel,
    ...(sessions.length > 0 && { sessions: Object.fromEntries(sessions) }),
  };
}

/** Lists the sessions of delegations that a lost wave began: no other wave gives out the same delegation_id. */
function listBegun(
  { sessions = [] }: RunRecord,
  delegations: readonly Delegation[],
): (readonly [string, Ref])[] {
  const ids = delegations.map(({ delegation_id }) => delegation_id);
  return sessions
    .filter(({ delegation_id }) => ids.includes(delegation_id))
    .map(({ delegation_id, session_ref }) => [delegation_id, session_ref] as const);
}

/** Lists the delegations whose task has all its evidence, or the task where another one met it. */
function listVerified({ tasks }: CoordinationPlan, { criteria, waves }: RunRecord): string[] {
  const completed = waves.flatMap(({ outcomes }) =>
    outcomes.filter(({ status }) => status === 'completed').map((one) => one.delegation_id),
  );
  return findVerified(tasks, criteria).map(
    (task) => completed.findLast((id) => findTask(tasks, id) === task) ?? task.task_id,
  );
}

/** Lists by task_id what met the evidence of a verified task that left some open itself: the planner gave it out. */
function listInstead({ tasks }: CoordinationPlan, record: RunRecord): Map<string, string[]> {
  const completed = record.waves.flatMap(({ outcomes }) =>
    outcomes.filter(({ status }) => status === 'completed'),
  );
  const isOther = (id: string, task: PlanTask): boolean =>
    completed.some((one) => one.delegation_id === id) && findTask(tasks, id) !== task;
  return new Map(
    findVerified(tasks, record.criteria).flatMap((task): [string, string[]][] => {
      const own = completed.findLast((one) => findTask(tasks, one.delegation_id) === task);
      if (own?.criteria_unmet.length === 0) return [];
      const evidence = task.validation.evidence.map(({ evidence_id }) => evidence_id);
      const others = record.criteria
        .filter(({ criterion_id }) => evidence.includes(criterion_id))
        .flatMap(({ delegation_id: id }) => (id !== null && isOther(id, task) ? [id] : []));
      return others.length === 0 ? [] : [[task.task_id, others]];
    }),
  );
}

/** Lists how the dispatched delegations ended. One of which the record has no end counts as failed. */
function listEnded({ waves }: RunRecord, dispatched: readonly string[]): EndedWork[] {
  const ends = new Map(
    waves.flatMap(({ wave, outcomes }) =>
      outcomes.map(({ delegation_id, status }) => [delegation_id, { wave, status }] as const),
    ),
  );
  return dispatched.map((delegation_id) => ({
    delegation_id,
    ...(ends.get(delegation_id) ?? { wave: 0, status: 'failed' }),
  }));
}

function dropRepeated(
  ready: readonly Delegation[],
  { tasks }: CoordinationPlan,
  triedAfter: (redoes?: string) => ReadonlySet<string>,
): Delegation[] {
  const dropped = new Set<string>();
  // Each delegation comes after those that it depends on.
  return ready.filter((one) => {
    const task_id = findTask(tasks, one.delegation_id)?.task_id ?? '';
    const isDropped =
      triedAfter(one.redoes).has(task_id) || one.depends_on.some((id) => dropped.has(id));
    if (isDropped) dropped.add(one.delegation_id);
    return !isDropped;
  });
}

/** Leaves out inputs that no result provides: their evidence was met in another way, and their files are there. */
function keepKnown(
  delegations: readonly Delegation[],
  knownInputs: readonly string[],
): Delegation[] {
  const own = delegations.map(({ delegation_id }) => delegation_id);
  const known = new Set([...knownInputs, ...own]);
  return delegations.map((one) => ({
    ...one,
    required_inputs: one.required_inputs.filter((name) => known.has(name)),
    provided_inputs: one.provided_inputs.filter((name) => known.has(name)),
  }));
}

/** Stages of the design whose results a judgement reads. */
const read: readonly DesignStageName[] = ['interview', 'poc_recommendation'];

/** Returns the work that has to be judged after a wave, proofs of concept of earlier ones too, and what is verified so far. */
export async function findWork(
  store: ArtifactStore,
  { plan_ref, record_ref, wave, looping, again = [] }: FindWorkInput,
): Promise<FindWorkResult> {
  const [plan, record] = await Promise.all([
    readCoordinationPlan(store, plan_ref),
    readRecord(store, record_ref),
  ]);
  const { tasks } = plan;
  const adaptations = record.design?.adaptations ?? [];
  const isJudged = (type: AdaptationCause['type'], task_id: string, since: number): boolean =>
    adaptations.some(
      ({ cause, wave: after }) =>
        cause.type === type && cause.task_id === task_id && after >= since,
    );
  const isChanged = (task_id: string, since: number): boolean =>
    adaptations.some(
      ({ changed_tasks, wave: after }) => after >= since && changed_tasks.includes(task_id),
    );
  // One that has changed since works anew.
  const proofs = listProofs(record, tasks).filter(
    ({ worked: { task_id, delegation_id }, wave: since }) =>
      !again.includes(delegation_id) &&
      !isJudged('proof_of_concept', task_id, since) &&
      !isChanged(task_id, since),
  );
  const verified = listVerified(plan, record).flatMap((id) => findTask(tasks, id)?.task_id ?? []);
  const worked = listWorked(record, tasks, wave);
  return {
    proofs: proofs.map((one) => one.worked),
    materials: (record.design?.materials ?? []).filter(({ stage }) => read.includes(stage)),
    looping: worked.filter(({ delegation_id }) => looping.includes(delegation_id)),
    contradicted: listContradicted(
      worked.filter(({ task_id }) => !isJudged('escalation', task_id, wave)),
      findAnswerConflicts(record, tasks, wave),
    ),
    verified,
  };
}

/** Lists the proofs of concept that have shown something, each as it ended last, with the wave. */
function listProofs(
  record: RunRecord,
  tasks: readonly PlanTask[],
): { readonly worked: WorkedTask; readonly wave: number }[] {
  const ended = record.waves.flatMap(({ wave }) =>
    listWorked(record, tasks, wave)
      .filter(isProven)
      .map((worked) => ({ worked, wave })),
  );
  return [...new Map(ended.map((one) => [one.worked.task_id, one])).values()];
}

/** Returns true for a proof of concept that has shown something. One that never began or was stopped works later. */
function isProven({ criteria, status }: WorkedTask): boolean {
  return criteria !== undefined && (status === 'completed' || status === 'failed');
}

/** Contradictions of one task that are judged together. */
const conflictsMax = 5;

function listContradicted(
  worked: readonly WorkedTask[],
  found: readonly FoundConflict[],
): WorkedTask[] {
  return worked.flatMap((task) => {
    const own = found.filter(({ asker }) => asker === task.delegation_id);
    const conflicts = own.map(({ conflict }) => conflict).slice(0, conflictsMax);
    return conflicts.length === 0 ? [] : [{ ...task, conflicts }];
  });
}

function listWorked({ waves }: RunRecord, tasks: readonly PlanTask[], wave: number): WorkedTask[] {
  const outcomes = waves.find((one) => one.wave === wave)?.outcomes ?? [];
  return outcomes.flatMap((outcome) => {
    const task = findTask(tasks, outcome.delegation_id);
    if (task === undefined) return [];
    const { delegation_id, status, reason, output_ref, criteria_met, criteria_unmet } = outcome;
    const { proof_of_concept: proof } = task;
    const { files } = outcome;
    return [
      {
        task_id: task.task_id,
        delegation_id,
        status,
        reason,
        output_ref,
        criteria_met,
        criteria_unmet,
        ...(proof !== null && { criteria: keysOfProof(proof), ...(files && { files }) }),
      },
    ];
  });
}

export async function rateChange(
  store: ArtifactStore,
  { before_ref, after_ref, task_id, change_ref, question }: RatePlanChangeInput,
): Promise<RatePlanChangeResult> {
  const [before, after, change] = await Promise.all([
    readCoordinationPlan(store, before_ref),
    readCoordinationPlan(store, after_ref),
    change_ref === undefined
      ? null
      : readShape(store, change_ref, DesignChange, 'a change of the plan'),
  ]);
  const rating = ratePlanChange(before, after);
  const reason = { task_id, explanation: change?.explanation ?? '' };
  return {
    ...rating,
    ...describePlanChange(before, after, { plan_ref: after_ref, rating, reason, question }),
  };
}
