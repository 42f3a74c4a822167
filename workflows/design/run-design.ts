import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignOrder, DesignResult } from '../../contracts/design-run.ts';
import type { DesignReplyOutline } from '../../contracts/design.ts';
import { designAgentIds, designStageNames } from '../../contracts/names.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { engineLimits } from '../../core/limits.ts';
import { endedBy, openAccount } from '../shared/account.ts';
import { assembleDesign } from '../shared/activities.ts';
import { shareBudget } from '../shared/share-budget.ts';
import { untilDone } from '../shared/until-done.ts';
import { approvePlan } from './approve-plan.ts';
import { askStage, recallWork } from './ask-stage.ts';
import { askDesigner, checkPlan } from './change-plan.ts';
import { inParallel, materialsOf, statusOfEnd, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';

/** Everything that a design needs besides its order. */
export type DesignSurroundings = Pick<DesignContext, 'control' | 'superior' | 'work' | 'report'> & {
  /** Assesses the risks of the plan, in a workflow of its own. */
  readonly assess: (technologies: readonly string[], context: DesignContext) => Promise<void>;
};

/**
 * One design, from the interview to the approved plan (seed 003): every stage is a conversation, and the plan changes by
 * operations only.
 */
export async function runDesign(
  order: DesignOrder,
  { assess, ...around }: DesignSurroundings,
): Promise<DesignResult> {
  const { control, superior, work } = around;
  const { account, budget } = openAccount(
    order.budget,
    { control, superior, limits: order.limits, wave: 0 },
    plannerChild,
  );
  const context: DesignContext = { ...around, place: order, budget, sharing: shareBudget(budget) };
  let status: DesignResult['status'] = 'approved';
  let approved_by: string | null = null;
  try {
    await recall(order, context);
    await makePlan(context, assess);
    approved_by = await approvePlan(order.auto_approve, context);
  } catch (error) {
    status = statusOfEnd(error);
    if (status === 'finished') status = endedBy(account) ?? status;
  }
  return {
    status,
    plan: work.plan,
    findings: work.findings,
    approved_by,
    usage: work.usage,
    budget: account?.carry() ?? null,
  };
}

/** Reads what an earlier attempt at this design has finished. */
async function recall({ finished }: DesignOrder, context: DesignContext): Promise<void> {
  if (finished === undefined) return;
  const { materials, plan_refs } = finished;
  context.work.recalled = { stages: await recallWork(materials, context), plan_refs };
}

type FirstStage = keyof typeof designAgentIds;

async function makePlan(
  context: DesignContext,
  assess: DesignSurroundings['assess'],
): Promise<void> {
  const { place, work } = context;
  const ask = (stage: FirstStage, roundsMax = 0): Promise<DesignReplyOutline> =>
    askStage(
      {
        stage,
        agent_id: designAgentIds[stage],
        materials: materialsOf(work, designStageNames),
        roundsMax,
      },
      context,
    );
  await ask('interview', engineLimits.designQuestionRoundsMax);
  const { technologies } = await ask('brief', engineLimits.designQuestionRoundsMax);
  await ask('roster');
  await ask('sequencing');
  await inParallel(
    (['file_structure', 'checkpoints', 'instructions'] as const).map((stage) => () => ask(stage)),
    place.limits.max_parallel,
  );
  const gaps = await assemble(context);
  await askDesigner({ findings: [...gaps, ...(await checkPlan(context))] }, context);
  await assess(technologies, context);
}

/** @returns gaps between the replies. */
async function assemble(context: DesignContext): Promise<readonly PlanFinding[]> {
  const { record_ref, designed_at } = context.place;
  const { materials } = context.work;
  const { plan, findings } = await untilDone(
    () =>
      assembleDesign.executeWithOptions({ summary: 'assemble the plan' }, [
        { record_ref, materials, created_at: designed_at },
      ]),
    (reason) => context.superior.park(reason),
  );
  await takeStep(context, { plan });
  return findings;
}
