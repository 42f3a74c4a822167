import type { AskedLoop, WorkedTask } from '../../contracts/adaptation.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { RatePlanChangeResult } from '../../contracts/design-activities.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { designAgentIds } from '../../contracts/names.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { describeFindings, keepEnd } from '../../core/design/describe-design.ts';
import { engineLimits } from '../../core/limits.ts';
import { ratePlanChange } from '../shared/activities.ts';
import {
  askForChange,
  askForWish,
  askToApprove,
  checkPlan,
  currentPlan,
  joinChanges,
  readWish,
  reviewPlan,
} from './approve-plan.ts';
import type { AskedChange } from './approve-plan.ts';
import { changesOf, DesignEnded, designUse, materialsOf } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import { callUntilDone } from '../shared/failures.ts';

/** Work that has shown whether the plan holds. */
export interface JudgedWork {
  readonly worked: WorkedTask;
  /** The question that it asked again and again; null for a proof of concept, and for one whose answers contradict others. */
  readonly loop: AskedLoop | null;
  /** task_ids of all that is verified. */
  readonly verified: readonly string[];
  /** True for a proof of concept that was judged as failed: the plan can't stay as it was. Absent for all else. */
  readonly refutes?: true;
}

export interface AdaptedPlan {
  readonly rating: RatePlanChangeResult;
  readonly approved_by: string | null;
}

/** Wish of the user on the change; null when the requirements of a stage say what is to change. */
type Wish = DeliveredAnswer | undefined | null;

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

export function requestOf(stage: WorkStage, { worked }: JudgedWork, context: DesignContext) {
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

/** Changes the plan, has the change checked, and asks the user where it leaves something out or costs more. */
export async function adapt(
  work: JudgedWork,
  wish: Wish,
  autoApprove: boolean,
  context: DesignContext,
): Promise<AdaptedPlan | null> {
  const before = currentPlan(context);
  const before_ref = before.plan_ref;
  let wished = wish;
  let asked: AskedChange | null = null;
  for (let changes = 0; ; changes += 1) {
    // Each change is checked, then shown.
    const user: AskedSoFar = addWish(asked, wished);
    ({ asked } = user);
    // oxlint-disable-next-line no-await-in-loop
    const rating = await changeUntilSound(work, user, before_ref, context);
    if (rating === null) return null;
    if (isFree(rating, autoApprove, context)) return { rating, approved_by: null };
    const mayChange = changes < engineLimits.planChangesMax;
    // oxlint-disable-next-line no-await-in-loop
    const verdict = await askToApprove(
      changeQuestion(withFindings(rating, context), {
        mayChange,
        failed: work.refutes === true ? work.worked.task_id : null,
      }),
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

/** Changes that the user asked for: what is to be done now, and everything so far with it. Null for nothing. */
interface AskedSoFar {
  readonly newest: AskedChange | null;
  readonly asked: AskedChange | null;
}

function addWish(before: AskedChange | null, wish: Wish): AskedSoFar {
  if (wish === null) return { newest: null, asked: before };
  const newest = readWish(wish);
  return { newest, asked: joinChanges(before, newest) };
}

/** @returns null when nothing has changed. Findings that are left after all repairs are in the context's work. */
async function changeUntilSound(
  work: JudgedWork,
  { newest, asked }: AskedSoFar,
  before_ref: Ref,
  context: DesignContext,
): Promise<RatePlanChangeResult | null> {
  const { worked, verified } = work;
  const { task_id } = worked;
  const change = { before_ref, verified };
  let findings: readonly PlanFinding[] = [];
  for (let repairs = 0; ; repairs += 1) {
    // Each repair is checked before the next.
    // oxlint-disable-next-line no-await-in-loop
    await askToAdapt(
      work,
      { isRepair: repairs > 0, asked: repairs === 0 ? newest : asked, findings, before_ref },
      context,
    );
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
      ? reviewPlan(context, { ...asked, worked: [worked], materials }, change)
      : checkPlan(context, change));
    context.work.findings = findings;
    if (findings.length === 0 || repairs === engineLimits.designRepairsMax) return rating;
  }
}

function askToAdapt(
  work: JudgedWork,
  {
    isRepair,
    asked,
    findings,
    before_ref,
  }: {
    readonly isRepair: boolean;
    readonly asked: AskedChange | null;
    readonly findings: readonly PlanFinding[];
    readonly before_ref: Ref;
  },
  context: DesignContext,
): Promise<void> {
  const { worked, verified } = work;
  const isProof = work.loop === null && worked.conflicts === undefined;
  const failed = isProof && !verified.includes(worked.task_id) ? worked.task_id : null;
  const unwanted = [
    ...(work.refutes === true ? [before_ref] : []),
    ...(isRepair || asked === null ? [] : [currentPlan(context).plan_ref]),
  ];
  const request = requestOf('adaptation', work, context);
  // A repair goes on from the change that the plan has already.
  const repaired = isRepair
    ? changesOf(worked.task_id, context.work).filter(({ stage }) => stage === 'adaptation')
    : [];
  return askForChange(
    {
      ...request,
      materials: [...request.materials, ...repaired],
      findings,
      ...asked,
    },
    (ref) => ({
      type: 'adaptation',
      ref,
      before_ref,
      verified,
      failed,
      ...(unwanted.length > 0 && { unwanted }),
    }),
    context,
  );
}

/** Returns the description of a change with the findings that are left, in the part of it that is never cut. */
function withFindings({ text, end }: RatePlanChangeResult, { work }: DesignContext): string {
  const { findings } = work;
  if (findings.length === 0) return text;
  // What code found is in no artifact.
  const reviewed = findings.every(({ rule }) => rule === 'verifier');
  const review = reviewed ? materialsOf(work, ['design_review']).at(-1) : undefined;
  const found = describeFindings(findings, review?.ref ?? null);
  return keepEnd(text.slice(0, text.length - end.length).trimEnd(), [...found, end]);
}

/** @param text Description of the change. */
function changeQuestion(
  text: string,
  {
    mayChange,
    failed,
  }: {
    /** False when the user has asked for as many changes as there may be. */
    readonly mayChange: boolean;
    /** task_id of the proof of concept whose failure calls for the change; null for none. */
    readonly failed: string | null;
  },
): AskedQuestion {
  const relies =
    failed === null ? '' : `, and work goes on that relies on what ${failed} has refuted`;
  return {
    text,
    why_it_matters:
      `approve: the run goes on with the new version; evidence that it leaves out is waived. keep: the plan stays as it was${relies}. ` +
      'change: say next what is to change. abandon: the run ends here.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['approve', 'keep', ...(mayChange ? ['change'] : []), 'abandon'],
    default_answer: null,
  };
}
