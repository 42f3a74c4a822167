import { isCancellation, startChild, workflowInfo } from '@temporalio/workflow';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import type { NewsItem } from '../../contracts/messages.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import { riskWorkflowId } from '../../core/ids.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage, lostUsage } from '../../core/usage/add-usage.ts';
import { relayEscalations } from '../shared/child-escalations.ts';
import { childOptions } from '../shared/child-options.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import { readFailure } from '../shared/read-failure.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import type { Superior } from '../shared/superior.ts';
import { currentPlan } from './change-plan.ts';
import { askUser, DesignEnded, materialsOf } from './design-context.ts';
import type { DesignContext, DesignPlace } from './design-context.ts';

/** Order of a design to the assessment of its plan's risks. */
export interface RiskOrder {
  readonly place: DesignPlace;
  readonly plan: PlanOutline;
  readonly materials: readonly DesignMaterial[];
  readonly technologies: readonly string[];
  readonly budget: BudgetNode | null;
  readonly news: readonly NewsItem[];
}

export interface RiskResult {
  /** `finished`: the budget allows no further call. */
  readonly status: 'assessed' | DesignEnded['status'];
  readonly plan: PlanOutline;
  /** Results of its stages. */
  readonly materials: readonly DesignMaterial[];
  /** Versions of the plan that it made. */
  readonly plan_refs: readonly Ref[];
  readonly usage: Usage;
  readonly budget: BudgetNode | null;
}

/**
 * Has the risks of the plan assessed by a workflow of its own, and takes its plan over. After one that was terminated the
 * user decides.
 *
 * @throws DesignEnded when the assessment was ended.
 */
export async function runRiskChild(
  technologies: readonly string[],
  context: DesignContext,
  escalations: EscalationRouter,
): Promise<void> {
  for (;;) {
    const share = context.sharing.forChildren();
    // One attempt after the other.
    // oxlint-disable-next-line no-await-in-loop
    const result = await runOnce(technologies, context, { escalations, share });
    if (!('lost' in result)) return takeResult(result, share, context);
    context.work.usage = addUsage(context.work.usage, lostUsage(null));
    share.lose();
    // oxlint-disable-next-line no-await-in-loop
    const [answer] = await askUser(
      context,
      { kind: 'planner_stuck', agent_id: null, release: () => context.budget.release() },
      [lostQuestion(result.lost)],
    );
    if (answer?.answer !== 'retry' || answer.loop) throw new DesignEnded('abandoned');
  }
}

async function runOnce(
  technologies: readonly string[],
  context: DesignContext,
  { escalations, share }: { readonly escalations: EscalationRouter; readonly share: MemberBudget },
): Promise<RiskResult | { readonly lost: string }> {
  const { place, control, work } = context;
  const { workflowId } = workflowInfo();
  const childId = riskWorkflowId(workflowId);
  const relay = relayEscalations({
    control,
    budget: share,
    escalations,
    superior: askAsOwn(context),
  });
  relay.expect(childId);
  const order: RiskOrder = {
    place,
    plan: currentPlan(context),
    materials: materialsOf(work, ['interview', 'brief']),
    technologies,
    budget: share.carry(),
    news: relay.news(),
  };
  try {
    const child = await startChild<(args: { order: RiskOrder }) => Promise<RiskResult>>(
      workflowTypes.riskAssessment,
      {
        workflowId: childId,
        args: [{ order }],
        ...childOptions(place.run_id, 'risks of the plan'),
      },
    );
    relay.began(childId, lastNewsId(order.news));
    return await child.result();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { lost: readFailure(error).message };
  } finally {
    relay.ended(childId);
  }
}

/** Passes the child's questions on as questions of this workflow: above it the child is unknown. */
function askAsOwn({ superior, work }: Pick<DesignContext, 'superior' | 'work'>): Superior {
  return {
    news: superior.news,
    ask(escalation) {
      work.escalations += 1;
      const escalation_id = `design#${work.escalations}`;
      return superior.ask({ ...escalation, escalation_id, from: workflowInfo().workflowId });
    },
    park: (reason) => superior.park(reason),
    withdraw: (id) => superior.withdraw(id),
    report: (effect) => superior.report(effect),
    reportSession: (session) => superior.reportSession(session),
    know: (effects) => superior.know(effects),
    refuse: (reason) => superior.refuse(reason),
  };
}

async function takeResult(
  { status, plan, materials, plan_refs, usage, budget }: RiskResult,
  share: MemberBudget,
  context: DesignContext,
): Promise<void> {
  const { work } = context;
  share.takeBack(budget);
  share.close();
  work.usage = addUsage(work.usage, usage);
  work.materials = [...work.materials, ...materials];
  work.plan = plan;
  work.planRefs = [...work.planRefs, ...plan_refs];
  await context.report({
    status: 'designing',
    materials,
    plan_refs,
    findings: work.findings,
    approved_by: null,
    usage: work.usage,
  });
  if (status !== 'assessed') throw new DesignEnded(status);
}

function lostQuestion(reason: string): AskedQuestion {
  return {
    text: `The risk assessment ended without a result: ${cutText(reason, 1_500)} What now?`,
    why_it_matters: 'retry: the risks are assessed again. abandon: the run ends without a plan.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['retry', 'abandon'],
    default_answer: 'abandon',
  };
}
