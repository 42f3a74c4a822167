import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { describeDesign } from '../shared/activities.ts';
import { untilDone } from '../shared/until-done.ts';
import { askDesigner, currentPlan, verifyPlan } from './change-plan.ts';
import { askUser, DesignEnded, designUsage, materialsOf } from './design-context.ts';
import type { DesignContext } from './design-context.ts';

/**
 * Verifies the plan and has the user approve it. Each change that the user asks for is made and verified before the plan
 * is shown again, so an approval is always for exactly the plan that was shown: the one behind the current address.
 *
 * @param autoApprove True: a plan without findings is approved in the user's place.
 * @returns the question whose answer approved it; null when nobody was asked.
 */
export async function approvePlan(
  autoApprove: boolean,
  context: DesignContext,
): Promise<string | null> {
  let shown_ref: Ref | undefined;
  for (let changes = 0; ; changes += 1) {
    // Each change is verified, then shown.
    // oxlint-disable-next-line no-await-in-loop
    const findings = await verifyPlan(context);
    // A change that an earlier attempt at this design made was asked for then.
    if (hasRecalledChange(context)) {
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
    const wish = await askForWish(context);
    // oxlint-disable-next-line no-await-in-loop
    await askDesigner({ findings, ...readWish(wish) }, context);
  }
}

function hasRecalledChange({ work }: DesignContext): boolean {
  return work.recalled.stages.some(({ reply }) => reply.stage === 'design_change');
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
  const { text } = await untilDone(
    () =>
      describeDesign.executeWithOptions({ summary: 'describe the plan' }, [
        {
          plan_ref: currentPlan(context).plan_ref,
          ...(shown_ref !== undefined && { shown_ref }),
          research: materialsOf(context.work, ['research']),
          findings,
          usage: designUsage(context.work),
          worked_ms: context.work.workedMs,
        },
      ]),
    (reason) => context.superior.park(reason),
  );
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

/** Returns the user's words, or the answer itself where they are long: the activity reads it from the store. */
export function readWish(wish: DeliveredAnswer | undefined): {
  readonly requested_change: string;
  readonly answers?: readonly DeliveredAnswer[];
} {
  if (wish === undefined) return { requested_change: '' };
  if (wish.answer !== null) return { requested_change: wish.answer };
  return { requested_change: `As answered to ${wish.question_id}.`, answers: [wish] };
}

/** @param text Description of the change. @param mayChange False when the user has asked for as many changes as there may be. */
export function changeQuestion(
  text: string,
  findings: readonly PlanFinding[],
  mayChange: boolean,
): AskedQuestion {
  const left = findings.length === 0 ? '' : `\nIt has ${findings.length} findings that stay.`;
  return {
    text: `${text}${left}`,
    why_it_matters:
      'approve: the run goes on with the new version; evidence that it leaves out is waived. keep: the plan stays as it was. ' +
      'change: say next what is to change. abandon: the run ends here.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['approve', 'keep', ...(mayChange ? ['change'] : []), 'abandon'],
    default_answer: null,
  };
}
