import { isCancellation, startChild, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { Reservation, Spending } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { emptyNode, takeGrant } from '../../core/budget/budget-node.ts';
import { noSpending, spendingOf } from '../../core/budget/spending.ts';
import { lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Usage } from '../../contracts/usage.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { collectUpstream, dropReplaced, listReplaced } from '../../core/schedule/dependencies.ts';
import { fitsInside, mustLeave, reserveEvents } from '../../core/schedule/fits-inside.ts';
import type { WaveHistory } from '../../core/schedule/fits-inside.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { delegationSummary } from '../../core/render/labels.ts';
import { executeVerified } from '../delegation/verify.ts';
import type { CarriedWork, OrderedDelegation } from '../execution/execution-context.ts';
import { outcomeUnbegun } from '../execution/build-outcome.ts';
import { agentSpan, workEnd } from '../shared/agent-span.ts';
import { childOptions } from '../shared/child-options.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import { nowMs, secondsSince } from '../shared/clock.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import { createBudget, unlimitedBudget } from '../shared/budget.ts';
import type { Budget } from '../shared/budget.ts';
import { inSpan } from '../shared/in-span.ts';
import { readFailure } from '../shared/read-failure.ts';
import { toPlanned } from '../shared/progress-of.ts';
import { recallLost } from '../shared/recall-run.ts';
import { recorder } from '../shared/recorder.ts';
import type { DelegationService, DispatchContext } from './delegation-service.ts';

/** Facts about the wave that a delegation's start needs. */
export interface WaveSite {
  readonly plan: WavePlanOutline;
  readonly order: WaveOrder;
  readonly context: DispatchContext;
  readonly waveId: string;
  readonly byId: ReadonlyMap<string, DelegationOutline>;
  readonly outcomes: ReadonlyMap<string, DelegationOutcome>;
  readonly relay: ChildRelay;
  readonly escalations: EscalationRouter;
  readonly plannedAtMs: number;
  /** Delegations at work in this workflow, with the events reserved for each. */
  readonly inside: Map<string, number>;
  /** delegation_ids of those that have a workflow of their own. */
  readonly children: Set<string>;
  /** delegation_ids of those that began in this workflow and left it. */
  readonly moved: Set<string>;
  readonly service: DelegationService;
  /** Shows a change of the view: a new status, or a new child. */
  readonly show: () => void;
}

type DelegationChild = ChildWorkflowHandle<(args: OrderedDelegation) => Promise<DelegationOutcome>>;

/**
 * Carries out a delegation and settles its account: inside this workflow while its history has room, otherwise as a child.
 * Every end, even a loss, gives an outcome.
 */
export async function runDelegation(
  d: WaveSite,
  delegation: DelegationOutline,
): Promise<DelegationOutcome> {
  const { context } = d;
  const { delegation_id } = delegation;
  const beganAtMs = nowMs();
  // Unknown only when its work was lost.
  let spent: Spending | null = noSpending;
  try {
    const admitted = await admit(d, delegation_id);
    if (admitted.type === 'denied') return outcomeUnbegun(delegation, 'skipped', admitted.reason);
    recorder.observe(metrics.gateWait, {}, secondsSince(d.plannedAtMs));
    const order = orderOf(d, delegation, admitted.reservation);
    const isInside = fitsInside(delegation.executor, [...d.inside.values()], historyOf(d));
    const child = isInside ? null : await startDelegation(d, { order });
    spent = null;
    const outcome = await (child === null ? workInside(d, order) : child.result());
    spent = spendingOf(outcome.usage);
    return outcome;
  } catch (error) {
    // Any other error is a fault of this code: the task fails, and the history waits for better code.
    if (!(error instanceof TemporalFailure)) throw error;
    if (isCancellation(error))
      return outcomeUnbegun(delegation, 'stopped', 'stopped before it began');
    context.superior.withdraw(delegation_id);
    recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'lost' });
    const usage = spent === null ? await usageOfLost(d, delegation_id, beganAtMs) : noUsage;
    spent = spendingOf(usage);
    return { ...outcomeUnbegun(delegation, 'failed', readFailure(error).message), usage };
  } finally {
    d.inside.delete(delegation_id);
    d.relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
    context.account?.end(delegation_id, spent);
  }
}

/**
 * Returns the usage of work that ended without a report: what the ledger has of its workflow. Of work that began inside this
 * one the ledger does not tell its first calls from those of others: then its whole reservation counts as spent.
 */
async function usageOfLost(d: WaveSite, delegationId: string, since: number): Promise<Usage> {
  const { account, superior } = d.context;
  if (d.moved.has(delegationId)) {
    const charged = account?.end(delegationId, null) ?? null;
    return lostUsage(charged === null ? null : { ...charged, calls: Math.max(1, charged.calls) });
  }
  return recallLost({
    place: delegationWorkflowId(d.waveId, delegationId),
    usage: noUsage,
    since,
    isLimited: account !== null,
    park: (reason) => superior.park(reason),
  });
}

type Admitted =
  | { readonly type: 'admitted'; readonly reservation: Reservation | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Nothing starts that could make no call. */
async function admit({ context }: WaveSite, delegationId: string): Promise<Admitted> {
  if (context.account === null) return { type: 'admitted', reservation: null };
  const { needs, spent, worked_ms } = emptyNode;
  const { reservation, reason } = await context.account.request(delegationId, {
    needs,
    spent,
    worked_ms,
  });
  return reservation === null ? { type: 'denied', reason } : { type: 'admitted', reservation };
}

function historyOf({ order }: WaveSite): WaveHistory {
  const { historyLength: events, continueAsNewSuggested: is_long } = workflowInfo();
  return { events, is_long, inline_events: order.limits.inline_events };
}

function orderOf(
  { order, plan, outcomes, byId, context }: WaveSite,
  delegation: DelegationOutline,
  reservation: Reservation | null,
): DelegationOrder {
  const { run_id, wave, registry_ref, record_ref, limits } = order;
  const versions = [...byId.values()];
  const upstream = dropReplaced(collectUpstream(delegation, byId)).flatMap((one) => {
    const { delegation_id } = one;
    const { output_ref = null, files } = outcomes.get(delegation_id) ?? {};
    const replaces = listReplaced(one, versions);
    if (output_ref === null) return [];
    return [
      {
        delegation_id,
        output_ref,
        ...(replaces.length > 0 && { replaces }),
        ...(files !== undefined && { files }),
      },
    ];
  });
  const { plan_ref } = plan;
  const news = context.superior.news.all();
  return {
    run_id,
    wave,
    delegation,
    plan_ref,
    registry_ref,
    record_ref,
    upstream,
    news,
    limits,
    reservation,
    paused: false,
    ...(order.notes === true && { notes: true }),
  };
}

/** Carries out a delegation in this workflow. One that is at work when the history is full continues as a child. */
function workInside(d: WaveSite, order: DelegationOrder): Promise<DelegationOutcome> {
  const { control, work } = d.context;
  const { delegation_id, agent_id, executor } = order.delegation;
  d.inside.set(delegation_id, reserveEvents(executor));
  const attributes = { 'planwave.delegation': delegation_id };
  return inSpan(
    agentSpan(agent_id, attributes),
    () =>
      executeVerified(executor, {
        order,
        carried: null,
        place: delegationWorkflowId(d.waveId, delegation_id),
        escalations: d.escalations,
        control,
        superior: d.service.superiorOf(delegation_id),
        budget: budgetOf(d, order),
        onStatus(status) {
          work.statuses.set(delegation_id, status);
          d.show();
        },
        carryOver: {
          isDue: () => mustLeave(historyOf(d)),
          take: (rest) => leave(d, order, rest),
        },
      }),
    ({ status }) => workEnd(status, null),
  );
}

function budgetOf({ context: { account } }: WaveSite, order: DelegationOrder): Budget {
  const { reservation, delegation } = order;
  if (account === null || reservation === null) return unlimitedBudget;
  return createBudget(takeGrant(emptyNode, reservation), {
    request: (needs) => account.request(delegation.delegation_id, needs),
  });
}

/** Continues a delegation as a child, which draws on the same account. */
async function leave(
  d: WaveSite,
  order: DelegationOrder,
  carried: CarriedWork,
): Promise<DelegationOutcome> {
  const news = d.context.superior.news.all();
  const { delegation_id } = order.delegation;
  d.moved.add(delegation_id);
  const child = await startDelegation(d, { order: { ...order, news }, carried });
  d.inside.delete(delegation_id);
  d.context.work.statuses.delete(delegation_id);
  return child.result();
}

/** Starts a delegation as a child. */
async function startDelegation(d: WaveSite, args: OrderedDelegation): Promise<DelegationChild> {
  const { run_id, delegation, news } = args.order;
  const child = await startChild<(args: OrderedDelegation) => Promise<DelegationOutcome>>(
    workflowTypes.delegation,
    {
      workflowId: delegationWorkflowId(d.waveId, delegation.delegation_id),
      args: [args],
      ...childOptions(run_id, delegationSummary(toPlanned(delegation))),
    },
  );
  d.children.add(delegation.delegation_id);
  d.relay.welcome(child.workflowId, lastNewsId(news));
  d.show();
  return child;
}
