import { isCancellation, startChild, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { Lease, Spending } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { emptyPurse, takeLease } from '../../core/budget/purse.ts';
import { noSpending, spendingOf } from '../../core/budget/spending.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { collectUpstream, dropReplaced, listReplaced } from '../../core/schedule/dependencies.ts';
import { fitsInside, mustLeave, reserveEvents } from '../../core/schedule/fits-inside.ts';
import type { WaveHistory } from '../../core/schedule/fits-inside.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { delegationSummary } from '../../core/render/labels.ts';
import { execute } from '../delegation/execute.ts';
import type { CarriedWork, OrderedDelegation } from '../execution/execution-context.ts';
import { outcomeUnbegun } from '../execution/build-outcome.ts';
import { agentSpan, workEnd } from '../shared/agent-span.ts';
import { childOptions } from '../shared/child-options.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import { secondsSince } from '../shared/clock.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import { createFunds, unlimitedFunds } from '../shared/funds.ts';
import type { Funds } from '../shared/funds.ts';
import { inSpan } from '../shared/in-span.ts';
import { readFailure } from '../shared/read-failure.ts';
import { toPlanned } from '../shared/progress-of.ts';
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
  // Unknown only when its work was lost: then its whole lease counts as spent.
  let spent: Spending | null = noSpending;
  try {
    const admitted = await admit(d, delegation_id);
    if (admitted.type === 'denied') return outcomeUnbegun(delegation, 'skipped', admitted.reason);
    recorder.observe(metrics.gateWait, {}, secondsSince(d.plannedAtMs));
    const order = orderOf(d, delegation, admitted.lease);
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
    return outcomeUnbegun(delegation, 'failed', readFailure(error).message);
  } finally {
    d.inside.delete(delegation_id);
    d.relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
    context.treasury?.end(delegation_id, spent);
  }
}

type Admitted =
  | { readonly type: 'admitted'; readonly lease: Lease | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Nothing starts that could make no call. */
async function admit({ context }: WaveSite, delegationId: string): Promise<Admitted> {
  if (context.treasury === null) return { type: 'admitted', lease: null };
  const { needs, spent, worked_ms } = emptyPurse;
  const { lease, reason } = await context.treasury.request(delegationId, {
    needs,
    spent,
    worked_ms,
  });
  return lease === null ? { type: 'denied', reason } : { type: 'admitted', lease };
}

function historyOf({ order }: WaveSite): WaveHistory {
  const { historyLength: events, continueAsNewSuggested: is_long } = workflowInfo();
  return { events, is_long, inline_events: order.limits.inline_events };
}

function orderOf(
  { order, plan, outcomes, byId, context }: WaveSite,
  delegation: DelegationOutline,
  lease: Lease | null,
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
    lease,
    paused: false,
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
      execute(executor, {
        order,
        carried: null,
        place: delegationWorkflowId(d.waveId, delegation_id),
        escalations: d.escalations,
        control,
        superior: d.service.superiorOf(delegation_id),
        funds: fundsOf(d, order),
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

function fundsOf({ context: { treasury } }: WaveSite, order: DelegationOrder): Funds {
  const { lease, delegation } = order;
  if (treasury === null || lease === null) return unlimitedFunds;
  return createFunds(takeLease(emptyPurse, lease), (wish) =>
    treasury.request(delegation.delegation_id, wish),
  );
}

/** Continues a delegation as a child, which draws on the same account. */
async function leave(
  d: WaveSite,
  order: DelegationOrder,
  carried: CarriedWork,
): Promise<DelegationOutcome> {
  const news = d.context.superior.news.all();
  const { delegation_id } = order.delegation;
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
