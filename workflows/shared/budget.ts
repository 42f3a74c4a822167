import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Allowance, BudgetReply, BudgetNeeds, Spending } from '../../contracts/budget.ts';
import type { BudgetEscalation } from '../../contracts/messages.ts';
import type { Usage } from '../../contracts/usage.ts';
import {
  allowanceOf,
  expectMore,
  release,
  spend,
  takeGrant,
} from '../../core/budget/budget-node.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import { checkBudgetGrant } from '../../core/run/read-messages.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';
import { escalateSignal, grantSignal, createMailbox } from './messages.ts';

/** Permission for the next call; a null allowance means no limit. */
export type Allowed =
  | { readonly type: 'allowed'; readonly allowance: Allowance | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Budget of an executor: `core/budget/budget-node.ts` decides; this waits and asks the parent. */
export interface Budget {
  /** Resolves when the next call may be made, or is denied for good. */
  allow(): Promise<Allowed>;
  /** Raises the needs after a call was refused because it may take this much. */
  expectMore(needs: Spending): void;
  /** @param workedMs Milliseconds that the call took. */
  spend(usage: Usage, workedMs: number): void;
  /**
   * Gives the rest of the grant to others, because this child waits for the user.
   *
   * @param spent Total that a child in a workflow of its own has reported. If undefined, the calls were made here.
   * @returns the spent amount; undefined without a budget, or when others still work.
   */
  release(spent?: Spending): Spending | undefined;
  /** Returns the state for continue-as-new, or for a child that spends in its place; null without a budget. */
  carry(): BudgetNode | null;
  /** Takes back the state from `carry`, after others have spent from it. */
  takeBack(node: BudgetNode | null): void;
  /** Reserves for a child in a workflow of its own. */
  request(request: BudgetNeeds): Promise<BudgetReply>;
}

/** Budget of a workflow whose parent is another one. */
export interface ChildBudget extends Budget {
  /** Returns the request_id of its next request. */
  nextRequest(): string;
}

/** The node above: the account of this workflow, or another workflow. */
export interface BudgetParent {
  request(request: BudgetNeeds): Promise<BudgetReply>;
  /** Reports that the rest is free. If undefined, the caller of `release` does. */
  readonly onReleased?: (spent: Spending) => void;
}

/** Reply to a request whose place a newer one of the same child took: its asker is gone, and needs no message. */
export const superseded: BudgetReply = {
  reservation: null,
  reason: 'a newer request took its place',
};

export const unlimitedBudget: Budget = {
  allow: () => Promise.resolve({ type: 'allowed', allowance: null }),
  expectMore: () => {},
  spend: () => {},
  release: () => undefined,
  carry: () => null,
  takeBack: () => {},
  request: () => Promise.resolve({ reservation: null, reason: 'nothing is limited' }),
};

export function createBudget(initial: BudgetNode, parent: BudgetParent): Budget {
  let node = initial;
  return {
    async allow() {
      for (;;) {
        const allowance = allowanceOf(node, nowMs());
        if (allowance !== null) return { type: 'allowed', allowance };
        const { needs, spent, worked_ms } = node;
        const { reservation, reason } = await parent.request({ needs, spent, worked_ms });
        if (reservation === null) return { type: 'denied', reason };
        node = takeGrant(node, reservation);
      }
    },
    expectMore(needs) {
      node = expectMore(node, needs);
    },
    spend(usage, workedMs) {
      node = spend(node, spendingOf(usage), workedMs);
    },
    release(spent) {
      if (spent === undefined) node = release(node);
      const total = spent ?? node.spent;
      parent.onReleased?.(total);
      return total;
    },
    carry: () => node,
    takeBack(carried) {
      if (carried !== null) node = carried;
    },
    request: (request) => parent.request(request),
  };
}

/**
 * Opens the budget of a workflow whose parent is another one: requests and grants are signals. Must be called before the
 * first await.
 *
 * @param node With its first grant, or as an earlier child left it. Null: there is no budget.
 */
export function openChildBudget(
  parentId: string,
  delegationId: string,
  node: BudgetNode | null,
): ChildBudget {
  if (node === null) return { ...unlimitedBudget, nextRequest: () => '' };
  const parent = getExternalWorkflowHandle(parentId);
  const { workflowId: from, runId } = workflowInfo();
  const grants = createMailbox<BudgetReply>();
  let requests = 0;
  // A grant to an earlier run of this workflow is none of this one's.
  const nextRequest = (): string => `${runId}#${requests + 1}`;
  setHandler(
    grantSignal,
    (payload) => {
      const grant = checkBudgetGrant(payload);
      if (grant === null) return;
      const { request_id, ...reply } = grant;
      grants.put(request_id, reply);
    },
    { description: 'From the parent: what may be spent. Not for people.' },
  );
  const budget = createBudget(node, {
    async request(request) {
      const request_id = nextRequest();
      requests += 1;
      const escalation: BudgetEscalation = {
        // One that is passed on names the child of this workflow that made it, such as a judgement.
        ...request,
        type: 'budget',
        from,
        delegation_id: delegationId,
        request_id,
      };
      await parent.signal(escalateSignal, escalation);
      return (await grants.take(request_id)) ?? superseded;
    },
  });
  return { ...budget, nextRequest };
}
