import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type {
  DesignOrder,
  DesignProgress,
  DesignResult,
  LoneStage,
  LoneStageResult,
  PlanOutline,
} from '../../contracts/design-run.ts';
import type { DesignReplyOutline } from '../../contracts/design.ts';
import { designAgentIds, designStageNames } from '../../contracts/names.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { engineLimits } from '../../core/limits.ts';
import { endedBy, openAccount } from '../shared/account.ts';
import { assembleDesign } from '../shared/activities.ts';
import { shareBudget } from '../shared/share-budget.ts';
import { approvePlan, askDesigner, checkPlan, verifyPlan } from './approve-plan.ts';
import { askStage, recallWork } from './ask-stage.ts';
import { inParallel, materialsOf, statusOfEnd, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import type { CarriedBudget } from '../../contracts/budget.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { RootHost } from '../shared/root-host.ts';
import { openDesign } from '../shared/root-state.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { ModeChoice } from '../../contracts/limits.ts';

/** Everything that a design needs besides its order. */
export type DesignSurroundings = Pick<DesignContext, 'control' | 'superior' | 'work' | 'report'> & {
  /** Assesses the risks of the plan, in a workflow of its own. */
  readonly assess: (technologies: readonly string[], context: DesignContext) => Promise<void>;
};

/**
 * One design, from the interview to the approved plan (seed 003): every stage is a conversation, and the plan changes by
 * operations only.
 */
export function runDesign(
  order: DesignOrder,
  { assess, ...around }: DesignSurroundings,
): Promise<DesignResult> {
  return makeStages(order, around, async (context) => {
    await recall(order, context);
    await makePlan(context, assess);
    return { status: 'approved', approved_by: await approvePlan(order.auto_approve, context) };
  });
}

/** Makes one stage of a design alone. @param plan Plan that is verified or approved; null for an interview. */
export function runLoneStage(
  order: DesignOrder,
  { stage, plan }: { readonly stage: LoneStage; readonly plan: PlanOutline | null },
  around: Omit<DesignSurroundings, 'assess'>,
): Promise<LoneStageResult> {
  around.work.plan = plan;
  return makeStages<LoneStageResult['status']>(order, around, async (context) => {
    switch (stage) {
      case 'interview':
        await askFirst('interview', context, engineLimits.designQuestionRoundsMax);
        return { status: 'interviewed', approved_by: null };
      case 'verification':
        await verifyPlan(context);
        return { status: 'verified', approved_by: null };
      case 'approval': {
        context.work.findings = await checkPlan(context);
        const { findings } = context.work;
        const approved_by = await approvePlan(order.auto_approve, context, findings);
        return { status: 'approved', approved_by };
      }
    }
  });
}

/** Makes stages within the budget of the order, until they are done or the design is ended. */
async function makeStages<S extends LoneStageResult['status']>(
  order: DesignOrder,
  around: Omit<DesignSurroundings, 'assess'>,
  make: (
    context: DesignContext,
  ) => Promise<{ readonly status: S; readonly approved_by: string | null }>,
): Promise<Omit<DesignResult, 'status'> & { readonly status: S | DesignResult['status'] }> {
  const { control, superior, work } = around;
  const { account, budget } = openAccount(
    order.budget,
    { control, superior, limits: order.limits, wave: 0 },
    plannerChild,
  );
  const context: DesignContext = { ...around, place: order, budget, sharing: shareBudget(budget) };
  let end: { readonly status: S | DesignResult['status']; readonly approved_by: string | null };
  try {
    end = await make(context);
  } catch (error) {
    const status = statusOfEnd(error);
    end = {
      status: status === 'finished' ? (endedBy(account) ?? status) : status,
      approved_by: null,
    };
  }
  return {
    ...end,
    plan: work.plan,
    findings: work.findings,
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

/** Asks for a stage that reads what those before it gave. */
function askFirst(
  stage: FirstStage,
  context: DesignContext,
  roundsMax: number,
): Promise<DesignReplyOutline> {
  const materials = materialsOf(context.work, designStageNames);
  return askStage({ stage, agent_id: designAgentIds[stage], materials, roundsMax }, context);
}

async function makePlan(
  context: DesignContext,
  assess: DesignSurroundings['assess'],
): Promise<void> {
  const { place } = context;
  const ask = (stage: FirstStage, roundsMax = 0): Promise<DesignReplyOutline> =>
    askFirst(stage, context, roundsMax);
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
  const { plan, findings } = await callUntilDone(
    context.superior,
    assembleDesign,
    'assemble the plan',
    { record_ref, materials, created_at: designed_at },
  );
  await takeStep(context, { plan });
  return findings;
}

/** Shows and records the mode that a run chose. */
export function showMode(host: RootHost, mode: ModeChoice): void {
  host.state.mode = mode;
  host.record.add({ type: 'mode_chosen', mode });
  host.refresh();
}

export function showDesign(host: RootHost, progress: DesignProgress): void {
  const { state } = host;
  const { materials, plan_refs, usage } = progress;
  const design = state.design ?? openDesign();
  state.design = {
    ...design,
    materials: [...design.materials, ...materials],
    plan_refs: [...design.plan_refs, ...plan_refs],
    usage,
  };
  record(host, progress);
}

/** End of a design; `designing`: of an attempt that was lost. */
export type DesignEnd = Omit<DesignProgress, 'materials' | 'plan_refs'> & {
  /** Budget for the rest of the run. */
  readonly budget: CarriedBudget | null;
};

/** Adds and records the end of a design, or of an attempt that was lost. */
export function endDesign(host: RootHost, end: DesignEnd): void {
  const { state } = host;
  const { status, findings, approved_by, usage, budget } = end;
  state.usage = addUsage(state.usage, usage);
  state.budget = budget;
  record(host, { status, findings, approved_by, usage, materials: [], plan_refs: [] });
  const { design } = state;
  if (design === null) return;
  const lost = status === 'designing' ? addUsage(design.lost, usage) : design.lost;
  state.design = { ...design, usage: noUsage, lost };
  host.refresh();
}

/** The record has the use of all attempts. */
export function record(host: RootHost, progress: DesignProgress): void {
  const usage = addUsage(progress.usage, host.state.design?.lost ?? noUsage);
  host.record.add({ type: 'designed', progress: { ...progress, usage } });
  host.refresh();
}
