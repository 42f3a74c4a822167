import {
  ApplicationFailure,
  getExternalWorkflowHandle,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { RiskAssessmentInput } from '../../contracts/design-run.ts';
import type { RunAnswer } from '../../contracts/planner-run.ts';
import { renderDesignDetails } from '../../core/render/render-design-details.ts';
import { openChildBudget } from '../shared/budget.ts';
import { createControl } from '../shared/control.ts';
import { designedSignal } from '../shared/messages.ts';
import { signalQuietly } from '../shared/signal-quietly.ts';
import { createParentSuperior } from '../shared/superior.ts';
import { runRisk } from './assess-risks.ts';
import { answerStatus, beginDesignWork } from './design-context.ts';
import { runRiskAlone } from './run-design-alone.ts';
import type { RiskOrder, RiskResult } from './run-risk-child.ts';

/** Name of this child's share in the budget of its design. */
const budgetName = 'risk';

/**
 * Assesses the risks of a plan (seed 003, "Risk Assessment Coordinator Agent", phase 1): research, consultation, proofs of
 * concept, practices.
 *
 * Started by a design with its order, or by hand with `{"plan":{…}}`.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function riskAssessment(
  args: { readonly order: RiskOrder } | RiskAssessmentInput,
): Promise<RiskResult | (RiskResult & RunAnswer)> {
  const { parent } = workflowInfo();
  if (parent === undefined) return runRiskAlone(args);
  if (!('order' in args)) {
    throw ApplicationFailure.nonRetryable('A child risk assessment needs an order.');
  }
  const { order } = args;
  const control = createControl({ paused: null, parked: null });
  const { workflowId } = parent;
  const superior = createParentSuperior(workflowId, order.place.run_id, control, order.news);
  const budget = openChildBudget(workflowId, budgetName, order.budget);
  const design = getExternalWorkflowHandle(workflowId);
  const work = beginDesignWork();
  answerStatus(work);
  return runRisk(order, {
    control,
    superior,
    work,
    budget,
    report(progress) {
      setCurrentDetails(renderDesignDetails(work));
      return signalQuietly(() => design.signal(designedSignal, progress));
    },
  });
}
