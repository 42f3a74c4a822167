import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { DesignChangeSource } from '../../contracts/design-activities.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { designAgentIds } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../../core/limits.ts';
import { changeDesign, checkDesign } from '../shared/activities.ts';
import { untilDone } from '../shared/until-done.ts';
import { askStage } from './ask-stage.ts';
import type { StageRequest } from './ask-stage.ts';
import { materialsOf, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';

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
  return untilDone(
    () =>
      changeDesign.executeWithOptions({ summary: `change the plan: ${source.type}` }, [
        { plan_ref, registry_ref, source, now: designed_at },
      ]),
    (reason) => context.superior.park(reason),
  );
}

/** Has the designer answer findings, or a change that the user asked for. */
export function askDesigner(
  asked: {
    readonly findings: readonly PlanFinding[];
    readonly requested_change?: string;
    readonly answers?: readonly DeliveredAnswer[];
  },
  context: DesignContext,
): Promise<void> {
  return askForChange(
    {
      stage: 'design_change',
      agent_id: designAgentIds.design_change,
      materials: materialsOf(context.work, ['interview', 'brief', 'design_review']),
      ...asked,
    },
    (ref) => ({ type: 'design_change', ref }),
    context,
  );
}

/** Returns what code finds in the plan. */
export async function checkPlan(context: DesignContext): Promise<readonly PlanFinding[]> {
  const { plan_ref } = currentPlan(context);
  const { registry_ref } = context.place;
  const { findings } = await untilDone(
    () =>
      checkDesign.executeWithOptions({ summary: 'check the plan' }, [{ plan_ref, registry_ref }]),
    (reason) => context.superior.park(reason),
  );
  return findings;
}

/**
 * Verifies the plan: code first, then the verifier. Findings go back to the designer.
 *
 * @returns the findings that are left after all repairs.
 */
export async function verifyPlan(context: DesignContext): Promise<readonly PlanFinding[]> {
  const { work } = context;
  for (let repairs = 0; ; repairs += 1) {
    // Each repair is verified before the next.
    // oxlint-disable-next-line no-await-in-loop
    work.findings = await reviewPlan(context);
    if (work.findings.length === 0 || repairs === engineLimits.designRepairsMax) {
      return work.findings;
    }
    // oxlint-disable-next-line no-await-in-loop
    await askDesigner({ findings: work.findings }, context);
  }
}

/** Returns what code finds in the plan, or else what the verifier finds. */
export async function reviewPlan(context: DesignContext): Promise<readonly PlanFinding[]> {
  const found = await checkPlan(context);
  if (found.length > 0) return found;
  const review = await askStage(
    {
      stage: 'design_review',
      agent_id: designAgentIds.design_review,
      materials: materialsOf(context.work, ['interview', 'brief', 'design_change']),
      plan_ref: currentPlan(context).plan_ref,
    },
    context,
  );
  return review.findings;
}
