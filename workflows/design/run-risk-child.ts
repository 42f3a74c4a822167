import { isCancellation, setHandler, startChild, workflowInfo } from '@temporalio/workflow';
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
import { checkDesigned } from '../../core/run/read-messages.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage, lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import { designedSignal } from '../shared/messages.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import { adaptSuperior } from '../shared/superior.ts';
import type { Superior } from '../shared/superior.ts';
import { recallWork } from './ask-stage.ts';
import {
  askUser,
  DesignEnded,
  dropRecalledPlans,
  materialsOf,
  reportSteps,
} from './design-context.ts';
import type { DesignContext, DesignPlace, RecalledWork } from './design-context.ts';
import { currentPlan } from './approve-plan.ts';
import { relayEscalations } from '../shared/child-relay.ts';
import type { EscalationRouter } from '../shared/child-relay.ts';
import { childOptions } from '../shared/visibility.ts';
import { readFailure } from '../shared/failures.ts';
import { retryOrAbandon } from '../../core/questions/answer-kinds.ts';

/** Order of a design to the assessment of its plan's risks. */
export interface RiskOrder {
  readonly place: DesignPlace;
  readonly plan: PlanOutline;
  readonly materials: readonly DesignMaterial[];
  readonly technologies: readonly string[];
  /** Work that earlier attempts have finished. */
  readonly recalled: RecalledWork;
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
  const { work } = context;
  for (;;) {
    const share = context.sharing.forChildren();
    const told: ToldSteps = { materials: [], plan_refs: [], usage: noUsage };
    // One attempt after the other.
    // oxlint-disable-next-line no-await-in-loop
    const result = await runOnce(technologies, context, { escalations, share, told });
    if (!('lost' in result)) return takeResult(result, share, context);
    work.usage = addUsage(work.usage, told.usage, lostUsage(null));
    share.lose();
    // What the lost assessment asked needs no answer.
    // oxlint-disable-next-line no-await-in-loop
    await context.superior.withdraw(null);
    // oxlint-disable-next-line no-await-in-loop
    const stages = await recallWork(told.materials, context);
    work.recalled = {
      stages: [...work.recalled.stages, ...stages],
      plan_refs: [...work.recalled.plan_refs, ...told.plan_refs],
    };
    // oxlint-disable-next-line no-await-in-loop
    const [answer] = await askUser(
      context,
      { kind: 'planner_stuck', agent_id: null, release: () => context.budget.release() },
      [lostQuestion(result.lost)],
    );
    if (answer?.answer !== 'retry' || answer.loop) throw new DesignEnded('abandoned');
  }
}

/** Steps of an assessment at work, as far as it reported them. */
interface ToldSteps {
  materials: readonly DesignMaterial[];
  plan_refs: readonly Ref[];
  usage: Usage;
}

/** Passes the steps of an assessment on to the run, and notes them in case it is lost. */
function relayProgress(told: ToldSteps, context: DesignContext): void {
  setHandler(
    designedSignal,
    (payload) => {
      const progress = checkDesigned(payload);
      if (progress === null) return;
      const { materials, plan_refs, usage } = progress;
      told.materials = [...told.materials, ...materials];
      told.plan_refs = [...told.plan_refs, ...plan_refs];
      told.usage = usage;
      context.work.usageBelow = usage;
      return reportSteps(context, { materials, plan_refs });
    },
    { description: 'From a risk assessment: a finished stage, or a new plan. Not for people.' },
  );
}

async function runOnce(
  technologies: readonly string[],
  context: DesignContext,
  {
    escalations,
    share,
    told,
  }: {
    readonly escalations: EscalationRouter;
    readonly share: MemberBudget;
    readonly told: ToldSteps;
  },
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
  relayProgress(told, context);
  const order: RiskOrder = {
    place,
    plan: currentPlan(context),
    materials: materialsOf(work, ['interview', 'brief']),
    technologies,
    recalled: work.recalled,
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
    work.usageBelow = noUsage;
    relay.ended(childId);
  }
}

/** Passes the child's questions on as questions of this workflow: above it the child is unknown. */
function askAsOwn({ superior, work }: Pick<DesignContext, 'superior' | 'work'>): Superior {
  return adaptSuperior(superior, {
    ask(escalation) {
      work.escalations += 1;
      const escalation_id = `design#${work.escalations}`;
      return superior.ask({ ...escalation, escalation_id, from: workflowInfo().workflowId });
    },
  });
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
  // The assessment has reported its steps itself.
  dropRecalledPlans(work, plan_refs);
  if (status !== 'assessed') throw new DesignEnded(status);
}

function lostQuestion(reason: string): AskedQuestion {
  return {
    text: `The risk assessment ended without a result: ${cutText(reason, 1_500)} What now?`,
    why_it_matters:
      'retry: the assessment goes on after its last finished stage. abandon: the run ends without a plan.',
    ...retryOrAbandon,
  };
}
