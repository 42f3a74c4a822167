import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { LeaseReply } from '../../contracts/budget.ts';
import type { LeaseEscalation } from '../../contracts/messages.ts';
import { checkLeaseGrant } from '../../core/budget/check-lease.ts';
import type { Purse } from '../../core/budget/purse.ts';
import { createFunds, unanswered, unlimitedFunds } from './funds.ts';
import type { Funds } from './funds.ts';
import { createMailbox } from './mailbox.ts';
import { escalateSignal, grantSignal } from './messages.ts';

/**
 * The funds of a child: what its parent leased to it, and the signals by which it gets more. Call it before the first await.
 *
 * @param purse With its first lease, or as an earlier spender left it. Null: there is no budget.
 */
export function createLeasedFunds(
  parentId: string,
  delegationId: string,
  purse: Purse | null,
): Funds {
  if (purse === null) return unlimitedFunds;
  const parent = getExternalWorkflowHandle(parentId);
  const { workflowId: from, runId } = workflowInfo();
  const grants = createMailbox<LeaseReply>();
  let requests = 0;
  setHandler(
    grantSignal,
    (payload) => {
      const grant = checkLeaseGrant(payload);
      if (grant === null) return;
      const { request_id, ...reply } = grant;
      grants.put(request_id, reply);
    },
    { description: 'From the parent: what may be spent. Not for people.' },
  );
  return createFunds(purse, async (wish) => {
    requests += 1;
    // A grant to an earlier run of this workflow is none of this one's.
    const request_id = `${runId}#${requests}`;
    const escalation: LeaseEscalation = {
      type: 'lease',
      from,
      delegation_id: delegationId,
      request_id,
      ...wish,
    };
    await parent.signal(escalateSignal, escalation);
    return (await grants.take(request_id)) ?? unanswered;
  });
}
