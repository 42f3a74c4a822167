import { isCancellation, startChild, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import type { Reservation } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type {
  CrashedAttempts,
  DelegationOrder,
  DelegationOutcome,
} from '../../contracts/delegation-run.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { emptyNode, openNode } from '../../core/budget/budget-node.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { definedOnly } from '../../core/json.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { collectUpstream, dropReplaced, listReplaced } from '../../core/schedule/dependencies.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { delegationSummary } from '../../core/render/labels.ts';
import { executeVerified } from '../delegation/verify.ts';
import type { CarriedWork, OrderedDelegation } from '../execution/execution-context.ts';
import { nowMs, secondsSince } from '../shared/clock.ts';
import { createBudget, unlimitedBudget } from '../shared/budget.ts';
import type { Budget } from '../shared/budget.ts';
import { inSpan, agentSpan, workEnd, recorder } from '../shared/in-span.ts';
import {
  followCrash,
  isDesigned,
  openAttempts,
  outcomeDenied,
  usedBefore,
  withCrashed,
} from './follow-crash.ts';
import type { Attempts, WorkPlace } from './follow-crash.ts';
import { fitsInside, mustLeave, reserveEvents } from '../../core/schedule/schedule.ts';
import type { WaveHistory } from '../../core/schedule/schedule.ts';
import { outcomeUnbegun, outcomeWithout } from '../execution/execution-context.ts';
import { childOptions } from '../shared/visibility.ts';
import type { WaveSite } from './wave-site.ts';
import { readFailure, stopWhenCancelled } from '../shared/failures.ts';
import { toPlanned } from '../shared/messages.ts';

type DelegationChild = ChildWorkflowHandle<(args: OrderedDelegation) => Promise<DelegationOutcome>>;

/**
 * Carries out a delegation and settles its account: inside this workflow while its history has room, otherwise as a child.
 * Every end, even a loss, gives an outcome. A task of a designed plan whose work broke off begins anew.
 */
export async function runDelegation(
  d: WaveSite,
  delegation: DelegationOutline,
): Promise<DelegationOutcome> {
  const { delegation_id } = delegation;
  const a = openAttempts();
  try {
    for (;;) {
      // One attempt after the other.
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await tryDelegation(d, delegation, a);
      if (outcome !== null) return withCrashed(d, outcome, a);
    }
  } finally {
    d.inside.delete(delegation_id);
    d.relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
    d.context.account?.end(delegation_id, a.spent);
  }
}

/** @returns null when the work broke off and begins anew. */
async function tryDelegation(
  d: WaveSite,
  delegation: DelegationOutline,
  a: Attempts,
): Promise<DelegationOutcome | null> {
  const { delegation_id } = delegation;
  const { crashed } = a;
  let place: WorkPlace | null = null;
  try {
    const admitted = await admit(d, delegation_id, a);
    if (admitted.type === 'denied') return outcomeDenied(delegation, a, admitted.reason);
    if (crashed === null) recorder.observe(metrics.gateWait, {}, secondsSince(d.plannedAtMs));
    const order = orderOf(d, delegation, admitted.reservation, crashed);
    const isInside = worksInside(d, delegation, a);
    const child = isInside ? null : await startDelegation(d, { order });
    place = placeOf(d, delegation_id, child);
    a.spent = null;
    const outcome = await (child === null ? workInside(d, order) : child.result());
    a.spent = spendingOf(addUsage(outcome.usage, usedBefore(a)));
    return outcome;
  } catch (error) {
    // Any other error is a fault of this code: the task fails, and the history waits for better code.
    if (!(error instanceof TemporalFailure)) throw error;
    if (isCancellation(error))
      return outcomeUnbegun(delegation, 'stopped', 'stopped before it began');
    return followCrash(d, delegation, a, { place, reason: readFailure(error).message });
  }
}

/** Returns true for work in this workflow. What begins anew works where it broke off. */
function worksInside(d: WaveSite, delegation: DelegationOutline, { crashed }: Attempts): boolean {
  if (crashed !== null) return crashed.place === d.waveId && !d.moved.has(delegation.delegation_id);
  return fitsInside(delegation, [...d.inside.values()], historyOf(d));
}

/** @param child Null for work in this workflow. */
function placeOf(
  { waveId }: WaveSite,
  delegationId: string,
  child: DelegationChild | null,
): WorkPlace {
  if (child === null) {
    const { firstExecutionRunId, runId } = workflowInfo();
    return { id: waveId, chain_id: firstExecutionRunId, run_id: runId };
  }
  return {
    id: delegationWorkflowId(waveId, delegationId),
    chain_id: child.firstExecutionRunId,
    run_id: child.firstExecutionRunId,
  };
}

type Admitted =
  | { readonly type: 'admitted'; readonly reservation: Reservation | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Nothing starts that could make no call. */
async function admit({ context }: WaveSite, delegationId: string, a: Attempts): Promise<Admitted> {
  if (context.account === null) return { type: 'admitted', reservation: null };
  const { needs } = emptyNode;
  const spent = spendingOf(usedBefore(a));
  const worked_ms = a.crashed === null ? 0 : nowMs() - a.beganAtMs;
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
  site: WaveSite,
  delegation: DelegationOutline,
  reservation: Reservation | null,
  crashed: CrashedAttempts | null,
): DelegationOrder {
  const { order, plan, outcomes, byId, context } = site;
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
    ...definedOnly({ session_ref: order.sessions?.[delegation.delegation_id] }),
    ...(isDesigned(site) && delegation.redoes !== undefined && { asks_when_failed: true }),
    ...(crashed !== null && { crashed }),
  };
}

/** Carries out a delegation in this workflow. One that is at work when the history is full continues as a child. */
function workInside(d: WaveSite, order: DelegationOrder): Promise<DelegationOutcome> {
  const { control, work } = d.context;
  const { delegation_id, agent_id } = order.delegation;
  d.inside.set(delegation_id, reserveEvents(order.delegation));
  const attributes = { 'planwave.delegation': delegation_id };
  return inSpan(
    agentSpan(agent_id, attributes),
    () =>
      executeVerified(order.delegation.executor, {
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
  const { reservation, delegation, crashed } = order;
  const node = openNode(reservation, crashed?.usage);
  if (account === null || node === null) return unlimitedBudget;
  return createBudget(node, {
    request: (needs) => account.request(delegation.delegation_id, needs),
  });
}

/** Continues a delegation as a child, which draws on the same account. */
async function leave(
  d: WaveSite,
  order: DelegationOrder,
  carried: CarriedWork,
): Promise<DelegationOutcome> {
  if (!(await mayLeave(d))) return outcomeLeft(d, order, carried);
  const news = d.context.superior.news.all();
  const { delegation_id } = order.delegation;
  const usage = d.context.work.statuses.get(delegation_id)?.usage ?? noUsage;
  const mayBeginAnew = isDesigned(d) && order.delegation.executor.kind === 'agent';
  // Until the child has started, no crash of it is known.
  d.moved.set(delegation_id, null);
  const begun = { place: d.waveId, chain_id: workflowInfo().firstExecutionRunId };
  const args = { ...order, news, ...(mayBeginAnew && { begun }) };
  const child = await startDelegation(d, { order: args, carried });
  if (mayBeginAnew) d.moved.set(delegation_id, { usage, run_id: child.firstExecutionRunId });
  d.inside.delete(delegation_id);
  d.context.work.statuses.delete(delegation_id);
  return child.result();
}

/**
 * Waits until calls may start: a child that begins during a pause would make a call before it hears of it.
 *
 * @returns false when the wave is stopped meanwhile.
 */
async function mayLeave({ context: { control } }: WaveSite): Promise<boolean> {
  const isHeld = control.pausedReason() !== null || control.parkedReason() !== null;
  if (!isHeld) return true;
  return (await stopWhenCancelled(() => control.ready().then(() => true))) ?? false;
}

/** Returns the outcome of a delegation that was stopped before it continued as a child. */
function outcomeLeft(
  { context }: WaveSite,
  { delegation }: DelegationOrder,
  { loaded_details, effects }: CarriedWork,
): DelegationOutcome {
  const { turn: turns = 0, usage = noUsage } =
    context.work.statuses.get(delegation.delegation_id) ?? {};
  const work = { loaded_details, effects, turns, usage };
  return outcomeWithout(delegation, work, { status: 'stopped', reason: 'stopped while it worked' });
}

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
