import { continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type {
  DelegationArgs,
  DelegationOutcome,
  LoneOutcome,
} from '../../contracts/delegation-run.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import { openNode } from '../../core/budget/budget-node.ts';
import { renderDelegationDetails } from '../../core/render/render-work-details.ts';
import { execute } from './execute.ts';
import { executeVerified } from './verify.ts';
import { createControl } from '../shared/control.ts';
import { openChildBudget } from '../shared/budget.ts';
import { isHistoryLong } from '../shared/history-length.ts';
import { delegationStatusQuery } from '../shared/messages.ts';
import { createParentSuperior, nameNextRequest } from '../shared/superior.ts';
import type { ExecutionContext, OrderedDelegation } from '../execution/execution-context.ts';
import { runAlone } from '../execution/run-alone.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { createEscalationRouter } from '../shared/child-relay.ts';
import type { TriadInput } from '../../contracts/triad.ts';

/**
 * Runs one task for one executor (seed 004 §3–6).
 *
 * Started by a wave with its order, or by hand with `{"agent_id":"writer","task_description":"…"}`.
 *
 * @returns the outcome; a delegation that failed or was stopped is an outcome too, not a failed workflow.
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function delegation(
  args: DelegationArgs | OrderedDelegation,
): Promise<DelegationOutcome | LoneOutcome> {
  const { parent } = workflowInfo();
  // Without an order it is alone, also below an evaluation or a workflow of the user's.
  if (parent === undefined || !('order' in args)) {
    return runAlone('delegation', args, executeVerified);
  }
  const { order, carried }: OrderedDelegation = args;
  const control = createControl({ paused: order.paused ? '' : null, parked: null });
  const superior = createParentSuperior(parent.workflowId, order.run_id, control, order.news);
  const escalations = createEscalationRouter((reason) => superior.refuse(reason));
  const { delegation_id } = order.delegation;
  const { reservation } = order;
  const node = carried?.budget ?? openNode(reservation, order.crashed?.usage);
  const budget = openChildBudget(parent.workflowId, delegation_id, node);
  let status: DelegationStatusView | null = null;
  setHandler(delegationStatusQuery, () => status, { description: 'State, turns and usage.' });
  return executeVerified(order.delegation.executor, {
    order,
    carried: carried ?? null,
    place: workflowInfo().workflowId,
    escalations,
    control,
    superior: nameNextRequest(superior, budget),
    budget,
    onStatus(view) {
      status = view;
      setCurrentDetails(renderDelegationDetails(view));
    },
    carryOver: {
      isDue: isHistoryLong,
      take: (rest) =>
        continueAsNew<typeof delegation>({
          order: { ...order, news: superior.news.all(), paused: control.pausedReason() !== null },
          carried: rest,
        }),
    },
  });
}

/**
 * Runs one task for three members, started by hand with `{"type":"dialectic","task":"…"}` (seed 000). In a run the
 * planner gives a delegation to a triad instead.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function triad(input: TriadInput): Promise<LoneOutcome> {
  return runAlone('triad', input, executeAlone);
}

/**
 * Runs a message for a leader and its members, started by hand with `{"message":"…","members":["researcher","writer"]}`
 * (seed 002). In a run the planner gives a delegation to a team instead.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function team(input: TeamInput): Promise<LoneOutcome> {
  return runAlone('team', input, executeAlone);
}

/** Has a triad or a team work by itself. */
function executeAlone(
  executor: ExecutorOutline,
  context: ExecutionContext,
): Promise<DelegationOutcome> {
  const { verification } = context.order.delegation;
  return verification === undefined
    ? execute(executor, context)
    : executeVerified(executor, context);
}
