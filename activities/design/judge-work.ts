import type { WorkedTask } from '../../contracts/adaptation.ts';
import type { PlanTask } from '../../contracts/coordination-plan.ts';
import type {
  FindWorkInput,
  FindWorkResult,
  RatePlanChangeInput,
  RatePlanChangeResult,
} from '../../contracts/design-activities.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { findTask } from '../../core/design/next-wave.ts';
import { describePlanChange, ratePlanChange, keysOfProof } from '../../core/design/rate-change.ts';
import { readCoordinationPlan } from '../artifacts/coordination-plan.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { listVerified } from './plan-next-wave.ts';
import { findAnswerConflicts } from '../../core/design/architect-task.ts';
import type { FoundConflict } from '../../core/design/architect-task.ts';

/** Stages of the design whose results a judgement reads. */
const read: readonly DesignStageName[] = ['interview', 'poc_recommendation'];

/** Returns the work of a wave that has to be judged, and what is verified so far. */
export async function findWork(
  store: ArtifactStore,
  { plan_ref, record_ref, wave, looping }: FindWorkInput,
): Promise<FindWorkResult> {
  const [plan, record] = await Promise.all([
    readCoordinationPlan(store, plan_ref),
    readRecord(store, record_ref),
  ]);
  const { tasks } = plan;
  const verified = listVerified(plan, record).flatMap((id) => findTask(tasks, id)?.task_id ?? []);
  const worked = listWorked(record, tasks, wave);
  return {
    proofs: worked.filter(({ criteria }) => criteria !== undefined),
    materials: (record.design?.materials ?? []).filter(({ stage }) => read.includes(stage)),
    looping: worked.filter(({ delegation_id }) => looping.includes(delegation_id)),
    contradicted: listContradicted(worked, findAnswerConflicts(record, tasks, wave)),
    verified,
  };
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
    return [
      {
        task_id: task.task_id,
        delegation_id,
        status,
        reason,
        output_ref,
        criteria_met,
        criteria_unmet,
        ...(proof !== null && { criteria: keysOfProof(proof) }),
      },
    ];
  });
}

export async function rateChange(
  store: ArtifactStore,
  { before_ref, after_ref }: RatePlanChangeInput,
): Promise<RatePlanChangeResult> {
  const [before, after] = await Promise.all([
    readCoordinationPlan(store, before_ref),
    readCoordinationPlan(store, after_ref),
  ]);
  const rating = ratePlanChange(before, after);
  return { ...rating, text: describePlanChange(before, after, after_ref, rating) };
}
