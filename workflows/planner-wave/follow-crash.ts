import { patched } from '@temporalio/workflow';
import type { Spending } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { CrashedAttempts, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noSpending, spendingOf } from '../../core/budget/spending.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { describeCrashes, mayBeginAnew } from '../../core/schedule/failures.ts';
import { addUsage, lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import { outcomeUnbegun } from '../execution/build-outcome.ts';
import { nowMs } from '../shared/clock.ts';
import { recallLost } from '../shared/recall-run.ts';
import { stopWhenCancelled } from '../shared/stop-when-cancelled.ts';
import { recorder } from '../shared/recorder.ts';
import type { WaveSite } from './wave-site.ts';

/** Attempts at a delegation. */
export interface Attempts {
  readonly beganAtMs: number;
  /** Null during the first. */
  crashed: CrashedAttempts | null;
  /** Use of all of them. Null only while it is unknown. */
  spent: Spending | null;
}

export function openAttempts(): Attempts {
  return { beganAtMs: nowMs(), crashed: null, spent: noSpending };
}

/** Returns the use of attempts that crashed. */
export function usedBefore({ crashed }: Attempts): Usage {
  return crashed?.usage ?? noUsage;
}

/** Returns the outcome of work for which the budget has no room. */
export function outcomeDenied(
  delegation: DelegationOutline,
  { crashed }: Attempts,
  reason: string,
): DelegationOutcome {
  return outcomeUnbegun(delegation, crashed === null ? 'skipped' : 'failed', reason);
}

/** Place of an attempt that began. */
export interface WorkPlace {
  /** Workflow id: the wave's, or the delegation's own. */
  readonly id: string;
  /** Defined in EffectOrder. */
  readonly chain_id: string;
}

/** Work that broke off without an outcome. */
interface BrokenWork {
  /** Null when it had not begun. */
  readonly place: WorkPlace | null;
  readonly reason: string;
}

/**
 * Counts a crash.
 *
 * @returns the outcome of a delegation that has failed by it; null when its work begins anew (seed 003, Issue 5).
 */
export async function followCrash(
  d: WaveSite,
  delegation: DelegationOutline,
  a: Attempts,
  { place, reason }: BrokenWork,
): Promise<DelegationOutcome | null> {
  const { crashed } = a;
  const count = (crashed?.count ?? 0) + 1;
  const again = place !== null && beginsAnew(d, delegation, count);
  const usage = await countLost(d, delegation, a, again);
  if (place === null || !again) {
    const end = outcomeUnbegun(delegation, 'failed', describeCrashes(count, reason));
    return { ...end, usage, ...(isDesigned(d) && { crashes: count }) };
  }
  const { delegation_id } = delegation;
  d.inside.delete(delegation_id);
  d.relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
  const isRestarted = await stopWhenCancelled(() => d.service.restart(delegation_id));
  if (isRestarted === null) return { ...outcomeUnbegun(delegation, 'stopped', reason), usage };
  a.crashed = {
    count,
    place: place.id,
    since: a.beganAtMs,
    chain_id: crashed?.chain_id ?? place.chain_id,
    usage: addUsage(usedBefore(a), usage),
  };
  return null;
}

function isDesigned({ order }: WaveSite): boolean {
  return order.plan !== undefined;
}

function beginsAnew(
  d: WaveSite,
  { delegation_id, executor: { kind } }: DelegationOutline,
  attempt: number,
): boolean {
  const mayBegin = mayBeginAnew({ attempt, kind, is_designed: isDesigned(d) });
  // Work that left the wave's history can't be begun from there. Waves from before 2026-11-24 begin none anew.
  return mayBegin && !d.moved.has(delegation_id) && patched('crash-attempts');
}

/** @returns the use of the attempt that broke off. */
async function countLost(
  d: WaveSite,
  delegation: DelegationOutline,
  a: Attempts,
  again: boolean,
): Promise<Usage> {
  if (!again) d.context.superior.withdraw(delegation.delegation_id);
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'lost' });
  const usage = a.spent === null ? await usageOfLost(d, delegation, a) : noUsage;
  a.spent = spendingOf(addUsage(usedBefore(a), usage));
  return usage;
}

/**
 * Returns the usage of work that ended without a report: what the ledger has of its workflow. Of work that began inside this
 * one the ledger does not tell its calls from those of others: then what its status told counts, and of work that left
 * since its whole reservation.
 */
async function usageOfLost(
  d: WaveSite,
  { delegation_id, executor }: DelegationOutline,
  a: Attempts,
): Promise<Usage> {
  const { account, superior, work } = d.context;
  if (d.moved.has(delegation_id)) {
    const charged = account?.end(delegation_id, null) ?? null;
    return lostUsage(charged === null ? null : { ...charged, calls: Math.max(1, charged.calls) });
  }
  const told = executor.kind === 'agent' ? work.statuses.get(delegation_id)?.usage : undefined;
  const recalled = await recallLost({
    place: delegationWorkflowId(d.waveId, delegation_id),
    usage: usedBefore(a),
    since: a.beganAtMs,
    isLimited: account !== null,
    park: (reason) => superior.park(reason),
  });
  return addUsage(recalled, told ?? noUsage);
}

/** Adds what crashed attempts used, and closes the questions that nobody asked again. */
export function withCrashed(
  d: WaveSite,
  outcome: DelegationOutcome,
  { crashed }: Attempts,
): DelegationOutcome {
  if (crashed === null) return outcome;
  if (outcome.crashes === undefined) d.context.superior.withdraw(outcome.delegation_id);
  return { ...outcome, usage: addUsage(outcome.usage, crashed.usage) };
}
