import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { describeDesign, changeDesign, checkDesign } from '../shared/activities.ts';
import { askUser, DesignEnded, designUse, materialsOf, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { DesignChangeSource, PlanChangeMade } from '../../contracts/design-activities.ts';
import { designAgentIds } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { askStage } from './ask-stage.ts';
import type { StageRequest } from './ask-stage.ts';
import { callUntilDone } from '../shared/failures.ts';

/**
 * Verifies the plan and has the user approve it. Each change that the user asks for is made and verified before the plan
 * is shown again, so an approval is always for exactly the plan that was shown: the one behind the current address.
 *
 * @param autoApprove True: a plan without findings is approved in the user's place.
 * @param first Findings with which the plan is shown first. If undefined, it is verified before.
 * @returns the question whose answer approved it; null when nobody was asked.
 */
export async function approvePlan(
  autoApprove: boolean,
  context: DesignContext,
  first?: readonly PlanFinding[],
): Promise<string | null> {
  let shown_ref: Ref | undefined;
  let asked: AskedChange | null = null;
  for (let changes = 0; ; changes += 1) {
    // Each change is verified, then shown.
    // oxlint-disable-next-line no-await-in-loop
    const findings = (changes === 0 ? first : undefined) ?? (await verifyPlan(context, asked));
    // A change that an earlier attempt at this design made was asked for then.
    if (context.work.recalled.stages.some(({ reply }) => reply.stage === 'design_change')) {
      // oxlint-disable-next-line no-await-in-loop
      await askDesigner({ findings }, context);
      continue;
    }
    if (autoApprove && findings.length === 0) return null;
    const mayChange = changes < engineLimits.planChangesMax;
    // oxlint-disable-next-line no-await-in-loop
    const verdict = await askForApproval({ findings, mayChange, shown_ref }, context);
    if (verdict?.answer === 'approve') return verdict.question_id;
    if (verdict?.answer !== 'change') throw new DesignEnded('abandoned');
    shown_ref = currentPlan(context).plan_ref;
    // oxlint-disable-next-line no-await-in-loop
    const wish = readWish(await askForWish(context));
    // oxlint-disable-next-line no-await-in-loop
    await askDesigner({ findings, ...wish }, context);
    asked = joinChanges(asked, wish);
  }
}

async function askForApproval(
  {
    findings,
    mayChange,
    shown_ref,
  }: {
    readonly findings: readonly PlanFinding[];
    readonly mayChange: boolean;
    readonly shown_ref: Ref | undefined;
  },
  context: DesignContext,
): Promise<DeliveredAnswer | undefined> {
  const [review] = materialsOf(context.work, ['design_review']);
  const { text } = await callUntilDone(context.superior, describeDesign, 'describe the plan', {
    run_id: context.place.run_id,
    plan_ref: currentPlan(context).plan_ref,
    ...(shown_ref !== undefined && { shown_ref }),
    research: materialsOf(context.work, ['research']),
    findings,
    ...(review !== undefined && { review_ref: review.ref }),
    ...designUse(context.work),
  });
  return askToApprove(
    {
      text,
      why_it_matters:
        'approve: exactly this plan is carried out. change: say next what is to change, and see the plan again. ' +
        'abandon: the run ends without a result.',
      priority: 'critical',
      expected_answer_format: 'choice',
      choices: mayChange ? ['approve', 'change', 'abandon'] : ['approve', 'abandon'],
      default_answer: null,
    },
    context,
  );
}

/** Asks what is to change in the plan. */
export function askForWish(context: DesignContext): Promise<DeliveredAnswer | undefined> {
  return askToApprove(
    {
      text: 'What is to change in the plan?',
      why_it_matters: 'The designer changes the plan accordingly, and you see it again.',
      priority: 'critical',
      expected_answer_format: 'text',
      choices: [],
      default_answer: null,
    },
    context,
  );
}

/** Puts a question about the plan to those who may approve it. */
export async function askToApprove(
  question: AskedQuestion,
  context: DesignContext,
): Promise<DeliveredAnswer | undefined> {
  const release = () => context.budget.release();
  const [answer] = await askUser(context, { kind: 'plan_approval', agent_id: null, release }, [
    question,
  ]);
  return answer;
}

/** Changes of the plan that the user asked for. */
export interface AskedChange {
  readonly requested_change: string;
  readonly answers?: readonly DeliveredAnswer[];
}

/** Returns the user's words, or the answer itself where they are long: the activity reads it from the store. */
export function readWish(wish: DeliveredAnswer | undefined): AskedChange {
  if (wish === undefined) return { requested_change: '' };
  if (wish.answer !== null) return { requested_change: wish.answer };
  return { requested_change: `As answered to ${wish.question_id}.`, answers: [wish] };
}

/** Joins what the user asked for before and what they ask for now: a review or a repair takes none of it back. */
export function joinChanges(before: AskedChange | null, next: AskedChange): AskedChange {
  if (before === null) return next;
  const answers = [...(before.answers ?? []), ...(next.answers ?? [])];
  return {
    requested_change: `${before.requested_change}\nLater: ${next.requested_change}`,
    ...(answers.length > 0 && { answers }),
  };
}

/** Returns the plan. It exists from its assembly on. */
export function currentPlan({ work }: Pick<DesignContext, 'work'>): PlanOutline {
  if (work.plan === null) throw new Error('The design has no plan yet.');
  return work.plan;
}

/**
 * Asks for a change of the plan and applies it. A change that can't be applied goes back to its author with every fault.
 *
 * @param sourceOf Returns the replies that the change follows from, the newest with this address.
 */
export async function askForChange(
  request: Omit<StageRequest, 'check' | 'plan_ref'>,
  sourceOf: (ref: string) => DesignChangeSource,
  context: DesignContext,
): Promise<void> {
  const { plan_ref } = currentPlan(context);
  const changed: { plan: PlanOutline | null } = { plan: null };
  await askStage(
    {
      ...request,
      plan_ref,
      async check({ ref }) {
        const result = await applyChange(sourceOf(ref), context);
        if (result.type === 'refused') return result.faults;
        changed.plan = result.plan;
        return [];
      },
    },
    context,
  );
  if (changed.plan !== null) await takeStep(context, { plan: changed.plan });
}

export function applyChange(
  source: DesignChangeSource,
  context: DesignContext,
): Promise<
  | { readonly type: 'changed'; readonly plan: PlanOutline }
  | { readonly type: 'refused'; readonly faults: readonly OutputFault[] }
> {
  const { plan_ref } = currentPlan(context);
  const { registry_ref, designed_at } = context.place;
  return callUntilDone(context.superior, changeDesign, `change the plan: ${source.type}`, {
    plan_ref,
    registry_ref,
    source,
    now: designed_at,
  });
}

/** Results of earlier stages that a review and a change of a whole plan read. */
const reviewed = ['interview', 'brief', 'design_review', 'design_change'] as const;

/** Has the designer answer findings, or a change that the user asked for. */
export function askDesigner(
  asked: Partial<AskedChange> &
    Pick<StageRequest, 'change_made'> & {
      readonly findings: readonly PlanFinding[];
    },
  context: DesignContext,
): Promise<void> {
  return askForChange(
    {
      stage: 'design_change',
      agent_id: designAgentIds.design_change,
      materials: materialsOf(context.work, reviewed),
      ...asked,
    },
    (ref) => ({ type: 'design_change', ref }),
    context,
  );
}

/** Returns what code finds in the plan. @param change If undefined, the work has not begun. */
export async function checkPlan(
  context: DesignContext,
  change?: PlanChangeMade,
): Promise<readonly PlanFinding[]> {
  const { plan_ref } = currentPlan(context);
  const { registry_ref } = context.place;
  const { findings } = await callUntilDone(context.superior, checkDesign, 'check the plan', {
    plan_ref,
    registry_ref,
    ...(change && { change }),
  });
  return findings;
}

/**
 * Verifies the plan: code first, then the verifier. Findings go back to the designer.
 *
 * @param asked Changes of the user that the plan has; null for none.
 * @returns the findings that are left after all repairs.
 */
export async function verifyPlan(
  context: DesignContext,
  asked: AskedChange | null = null,
): Promise<readonly PlanFinding[]> {
  const { work } = context;
  for (let repairs = 0; ; repairs += 1) {
    // Each repair is verified before the next.
    // oxlint-disable-next-line no-await-in-loop
    work.findings = await reviewPlan(context, asked ?? {});
    if (work.findings.length === 0 || repairs === engineLimits.designRepairsMax) {
      return work.findings;
    }
    // oxlint-disable-next-line no-await-in-loop
    await askDesigner(
      { findings: work.findings, ...(asked !== null && { ...asked, change_made: true }) },
      context,
    );
  }
}

/**
 * Returns what code finds in the plan, or else what the verifier finds.
 *
 * @param asked Changes that the user asked for, and the work that has changed the plan, with the results that say why and how.
 * @param change As for `checkPlan`.
 */
export async function reviewPlan(
  context: DesignContext,
  { materials = [], ...asked }: Partial<AskedChange & Pick<StageRequest, 'worked' | 'materials'>>,
  change?: PlanChangeMade,
): Promise<readonly PlanFinding[]> {
  const found = await checkPlan(context, change);
  if (found.length > 0) return found;
  const review = await askStage(
    {
      stage: 'design_review',
      agent_id: designAgentIds.design_review,
      ...asked,
      materials: [...materialsOf(context.work, reviewed), ...materials],
      plan_ref: currentPlan(context).plan_ref,
    },
    context,
  );
  return review.findings;
}
