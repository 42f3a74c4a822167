import {
  ApplicationFailure,
  getExternalWorkflowHandle,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { ArchitectureDesignArgs, DesignResult } from '../../contracts/design-run.ts';
import type { RunAnswer } from '../../contracts/planner-run.ts';
import { createControl } from '../shared/control.ts';
import { createEscalationRouter } from '../shared/escalation-router.ts';
import { designedSignal } from '../shared/messages.ts';
import { signalInOrder } from '../shared/signal-quietly.ts';
import { createParentSuperior } from '../shared/superior.ts';
import { answerStatus, beginDesignWork } from './design-context.ts';
import { runDesignAlone } from './run-design-alone.ts';
import { runDesign } from './run-design.ts';
import { runRiskChild } from './run-risk-child.ts';
import { renderDesignDetails } from '../../core/render/render-design-details.ts';

/**
 * Turns a goal into an approved plan (seed 003): interview, design, risk assessment, verification, approval.
 *
 * Started by a run with its order, or by hand with `{"goal":"…"}`. It never continues as new: the questions, repairs and
 * changes of a design have limits, and its texts are not in history.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function architectureDesign(
  args: ArchitectureDesignArgs,
): Promise<DesignResult | (DesignResult & RunAnswer)> {
  const { parent } = workflowInfo();
  if (parent === undefined) return runDesignAlone(args);
  if (!('order' in args)) throw ApplicationFailure.nonRetryable('A child design needs an order.');
  const { order } = args;
  const control = createControl({ paused: null, parked: null });
  const superior = createParentSuperior(parent.workflowId, order.run_id, control, order.news);
  const escalations = createEscalationRouter((reason) => superior.refuse(reason));
  const run = getExternalWorkflowHandle(parent.workflowId);
  const work = beginDesignWork();
  answerStatus(work);
  const signalNext = signalInOrder();
  return runDesign(order, {
    control,
    superior,
    work,
    report(progress) {
      setCurrentDetails(renderDesignDetails(work));
      return signalNext(() => run.signal(designedSignal, progress));
    },
    assess: (technologies, context) => runRiskChild(technologies, context, escalations),
  });
}
