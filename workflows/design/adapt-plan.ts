import type {
  AdaptationCause,
  AskedLoop,
  ProofReview,
  WorkedTask,
} from '../../contracts/adaptation.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { RatePlanChangeResult } from '../../contracts/design-activities.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { designAgentIds } from '../../contracts/names.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { ratePlanChange } from '../shared/activities.ts';
import {
  askForWish,
  askToApprove,
  changeQuestion,
  failedQuestion,
  readWish,
  askForChange,
  checkPlan,
  currentPlan,
  reviewPlan,
} from './approve-plan.ts';
import { askStage } from './ask-stage.ts';
import { changesOf, DesignEnded, designUse, materialsOf } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import { checkJudged } from '../../core/design/rate-change.ts';
import { callUntilDone } from '../shared/failures.ts';

/** Work that has shown whether the plan holds. */
export interface JudgedWork {
  readonly worked: WorkedTask;
  /** The question that it asked again and again; null for a proof of concept, and for one whose answers contradict others. */
  readonly loop: AskedLoop | null;
  /** task_ids of all that is verified. */
  readonly verified: readonly string[];
}

export interface Judgement {
  readonly cause: AdaptationCause;
  /** Null: the plan stays as it was. */
  readonly change: AdaptedPlan | null;
}

interface AdaptedPlan {
  readonly rating: RatePlanChangeResult;
  readonly approved_by: string | null;
}

/** Wish of the user on the change; null when the requirements of a stage say what is to change. */
type Wish = DeliveredAnswer | undefined | null;

/**
 * Judges a proof of concept that has worked (seed 003, "Phase 2: During Workflow Execution"), a task that asks the same
 * again and again, or one whose answers contradict what others stated, and changes the plan where that is called for.
 *
 * @param autoApprove True: a change that leaves nothing out is approved in the user's place.
 * @throws DesignEnded when the run was stopped, or the user or the budget ends it.
 */
export async function judgeWork(
  work: JudgedWork,
  autoApprove: boolean,
  context: DesignContext,
): Promise<Judgement> {
  const { loop, worked } = work;
  if (loop !== null) return judgeLoop(work, loop, autoApprove, context);
  if (worked.conflicts === undefined) return judgeProof(work, autoApprove, context);
  const question_ids = [...new Set(worked.conflicts.map(({ question_id }) => question_id))];
  const cause = { type: 'escalation', task_id: worked.task_id, question_ids } as const;
  return { cause, change: await adapt(work, null, autoApprove, context) };
}

async function judgeProof(
  work: JudgedWork,
  autoApprove: boolean,
  context: DesignContext,
): Promise<Judgement> {
  const { task_id } = work.worked;
  const assessment = await assess(work, context);
  const cause = { type: 'proof_of_concept', task_id, assessment } as const;
  // What the criteria show needs no opinion.
  if (assessment === 'pass') return { cause: { ...cause, decision: 'proceed' }, change: null };
  const { decision = 'escalate' } = await askStage(
    {
      ...requestOf('poc_decision', work, context),
      check: async (reply) =>
        assessment === 'fail' && reply.decision === 'proceed' ? [failedProceeds] : [],
    },
    context,
  );
  if (decision === 'proceed') return { cause: { ...cause, decision }, change: null };
  const wish = decision === 'escalate' ? await escalate(work, assessment, context) : null;
  if (wish === 'proceed') return { cause: { ...cause, decision }, change: null };
  return { cause: { ...cause, decision }, change: await adapt(work, wish, autoApprove, context) };
}

const failedProceeds = {
  path: 'decision',
  reason: 'the proof of concept has failed, so the work that relies on it can not go on as planned',
  hint: 'Try: "adapt" with requirements, or "escalate"',
};

/** Missing evidence is a failure, and needs no judgement. */
async function assess(
  work: JudgedWork,
  context: DesignContext,
): Promise<ProofReview['assessment']> {
  const { status, criteria_unmet, output_ref, criteria } = work.worked;
  if (status !== 'completed' || criteria_unmet.length > 0 || output_ref === null) return 'fail';
  const { assessment = 'fail' } = await askStage(
    {
      ...requestOf('poc_evidence', work, context),
      // A run that began with an older version has no keys.
      check: async ({ judged }) =>
        criteria === undefined || judged === undefined ? [] : checkJudged(criteria, judged),
    },
    context,
  );
  return assessment;
}

async function judgeLoop(
  work: JudgedWork,
  loop: AskedLoop,
  autoApprove: boolean,
  context: DesignContext,
): Promise<Judgement> {
  const { cycle } = loop;
  const { root_cause = 'planning_gap' } = await askStage(
    {
      ...requestOf('loop_analysis', work, context),
      loop,
      roundsMax: 1,
      check: async (reply) =>
        cycle !== undefined && reply.root_cause !== 'circular_dependency' ? [isCircular] : [],
    },
    context,
  );
  const known = { type: 'loop', task_id: work.worked.task_id, root_cause } as const;
  const cause = cycle === undefined ? known : { ...known, cycle };
  return { cause, change: await adapt(work, null, autoApprove, context) };
}

const isCircular = {
  path: 'root_cause',
  reason: 'code has found the cycle that stands in <escalations>',
  hint: 'Try: "circular_dependency", with requirements that break the cycle',
};

type WorkStage = Extract<
  DesignStageName,
  'poc_evidence' | 'poc_decision' | 'loop_analysis' | 'adaptation'
>;

/** Results of earlier stages that a stage of the work reads: those about the same task. */
const read = {
  poc_evidence: [],
  poc_decision: ['poc_recommendation', 'poc_evidence'],
  loop_analysis: ['interview'],
  adaptation: ['interview', 'poc_decision', 'loop_analysis', 'design_review'],
} as const satisfies Readonly<Record<WorkStage, readonly DesignStageName[]>>;

function requestOf(stage: WorkStage, { worked }: JudgedWork, context: DesignContext) {
  const { task_id } = worked;
  return {
    stage,
    agent_id: designAgentIds[stage],
    subject: task_id,
    materials: materialsOf(context.work, read[stage]).filter(
      ({ subject }) => subject === null || subject === task_id,
    ),
    plan_ref: currentPlan(context).plan_ref,
    worked: [worked],
  };
}

/** Lets the user decide on a failed assumption. @returns the wish for a change, or `proceed`. */
async function escalate(
  { worked: { task_id } }: JudgedWork,
  assessment: ProofReview['assessment'],
  context: DesignContext,
): Promise<DeliveredAnswer | undefined | 'proceed'> {
  const verdict = await askToApprove(failedQuestion(task_id, assessment), context);
  if (verdict?.answer === 'change') return askForWish(context);
  if (verdict?.answer === 'proceed') return 'proceed';
  throw new DesignEnded('abandoned');
}

/** Changes the plan, has the change checked, and asks the user where it leaves something out or costs more. */
async function adapt(
  work: JudgedWork,
  wish: Wish,
  autoApprove: boolean,
  context: DesignContext,
): Promise<AdaptedPlan | null> {
  const before = currentPlan(context);
  const before_ref = before.plan_ref;
  let wished = wish;
  for (let changes = 0; ; changes += 1) {
    // Each change is checked, then shown.
    // oxlint-disable-next-line no-await-in-loop
    const rating = await changeUntilSound(work, wished, before_ref, context);
    if (rating === null) return null;
    if (isFree(rating, autoApprove, context)) return { rating, approved_by: null };
    const mayChange = changes < engineLimits.planChangesMax;
    // oxlint-disable-next-line no-await-in-loop
    const verdict = await askToApprove(
      changeQuestion(rating.text, context.work.findings, mayChange),
      context,
    );
    if (verdict?.answer === 'approve') return { rating, approved_by: verdict.question_id };
    if (verdict?.answer === 'keep') {
      context.work.plan = before;
      return null;
    }
    if (verdict?.answer !== 'change') throw new DesignEnded('abandoned');
    // oxlint-disable-next-line no-await-in-loop
    wished = await askForWish(context);
  }
}

/** Returns true when the change needs no answer of the user: it costs no more, leaves nothing out and has no findings. */
function isFree(
  { scope_changed, cost_changed }: RatePlanChangeResult,
  autoApprove: boolean,
  { work }: DesignContext,
): boolean {
  return !scope_changed && (autoApprove || !cost_changed) && work.findings.length === 0;
}

/** @returns null when nothing has changed. Findings that are left after all repairs are in the context's work. */
async function changeUntilSound(
  work: JudgedWork,
  wish: Wish,
  before_ref: Ref,
  context: DesignContext,
): Promise<RatePlanChangeResult | null> {
  const { worked } = work;
  const { task_id } = worked;
  let findings: readonly PlanFinding[] = [];
  for (let repairs = 0; ; repairs += 1) {
    // Each repair is checked before the next.
    // oxlint-disable-next-line no-await-in-loop
    await askToAdapt(work, { wish: repairs === 0 ? wish : null, findings, before_ref }, context);
    const after_ref = currentPlan(context).plan_ref;
    if (after_ref === before_ref) return null;
    const materials = changesOf(task_id, context.work);
    const change_ref = materials.findLast(({ stage }) => stage === 'adaptation')?.ref;
    // oxlint-disable-next-line no-await-in-loop
    const rating = await callUntilDone(
      context.superior,
      ratePlanChange,
      'rate the change of the plan',
      {
        before_ref,
        after_ref,
        task_id,
        ...(change_ref && { change_ref }),
        question: { run_id: context.place.run_id, ...designUse(context.work) },
      },
    );
    // oxlint-disable-next-line no-await-in-loop
    findings = await (rating.significant
      ? reviewPlan(context, { worked: [worked], materials })
      : checkPlan(context));
    context.work.findings = findings;
    if (findings.length === 0 || repairs === engineLimits.designRepairsMax) return rating;
  }
}

function askToAdapt(
  work: JudgedWork,
  {
    wish,
    findings,
    before_ref,
  }: {
    readonly wish: Wish;
    readonly findings: readonly PlanFinding[];
    readonly before_ref: Ref;
  },
  context: DesignContext,
): Promise<void> {
  const { worked, verified } = work;
  const isProof = work.loop === null && worked.conflicts === undefined;
  const failed = isProof && !verified.includes(worked.task_id) ? worked.task_id : null;
  return askForChange(
    {
      ...requestOf('adaptation', work, context),
      findings,
      ...(wish !== null && readWish(wish)),
    },
    (ref) => ({ type: 'adaptation', ref, before_ref, verified, failed }),
    context,
  );
}
