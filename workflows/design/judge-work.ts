import type { AdaptationCause, AskedLoop, ProofReview } from '../../contracts/adaptation.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { checkJudged } from '../../core/design/rate-change.ts';
import { adapt, requestOf } from './adapt-plan.ts';
import type { AdaptedPlan, JudgedWork } from './adapt-plan.ts';
import { askForWish, askToApprove } from './approve-plan.ts';
import { askStage } from './ask-stage.ts';
import { DesignEnded } from './design-context.ts';
import type { DesignContext } from './design-context.ts';

export interface Judgement {
  readonly cause: AdaptationCause;
  /** Null: the plan stays as it was. */
  readonly change: AdaptedPlan | null;
}

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
  const judged: JudgedWork = assessment === 'fail' ? { ...work, refutes: true } : work;
  return { cause: { ...cause, decision }, change: await adapt(judged, wish, autoApprove, context) };
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
      // Only a proof of concept has criteria with keys.
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

/** Asks what follows from a failed assumption that no change of the plan mends. */
function failedQuestion(task_id: string, assessment: ProofReview['assessment']): AskedQuestion {
  const choices = assessment === 'fail' ? ['change', 'abandon'] : ['proceed', 'change', 'abandon'];
  return {
    text: `The proof of concept ${task_id} has the result "${assessment}", and no change of the plan helps without your decision. The judgement is in the run's report. What now?`,
    why_it_matters:
      `${assessment === 'fail' ? '' : 'proceed: the work goes on as planned. '}change: say next what is to change in goal, limits or approach. ` +
      'abandon: the run ends here.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices,
    default_answer: null,
  };
}
