import type { Spending } from '../../contracts/budget.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { CrashedAttempts, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noSpending, spendingOf } from '../../core/budget/spending.ts';
import { delegationWorkflowId, isDecisionTask } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { describeCrashes, mayBeginAnew } from '../../core/schedule/failures.ts';
import { addUsage, lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import { inBackground } from '../shared/background.ts';
import { nowMs } from '../shared/clock.ts';
import { outcomeUnbegun } from '../execution/execution-context.ts';
import type { WaveSite } from './wave-site.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import { recallLost } from '../shared/settle-run.ts';
import { recorder } from '../shared/in-span.ts';

export interface Attempts {
  readonly beganAtMs: number;
  /** Null during the first. */
  crashed: CrashedAttempts | null;
  /** Use of all of them. Null only while it is unknown. */
  spent: Spending | null;
  /** Use that the ledger told of those that broke off. */
  recalled: Usage;
}

export function openAttempts(): Attempts {
  return { beganAtMs: nowMs(), crashed: null, spent: noSpending, recalled: noUsage };
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
  readonly run_id: string;
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
    if (!isDesigned(d)) return { ...end, usage };
    // A new attempt at a decision is made by whoever asks again.
    const decides = isDecisionTask(delegation.delegation_id);
    return { ...end, usage, crashes: count, ...(decides && { decides }) };
  }
  const { delegation_id } = delegation;
  d.inside.delete(delegation_id);
  d.relay.dismiss(delegationWorkflowId(d.waveId, delegation_id));
  const isRestarted = await stopWhenCancelled(() => d.service.restart(delegation_id));
  if (isRestarted === null) return { ...outcomeUnbegun(delegation, 'stopped', reason), usage };
  a.crashed = countAttempt(d, delegation_id, a, { place, usage });
  return null;
}

function countAttempt(
  d: WaveSite,
  delegationId: string,
  { crashed, beganAtMs }: Attempts,
  { place, usage }: { readonly place: WorkPlace; readonly usage: Usage },
): CrashedAttempts {
  const moved = d.moved.get(delegationId) ?? null;
  const before = crashed ?? { count: 0, chain_id: place.chain_id, executions: [], usage: noUsage };
  return {
    count: before.count + 1,
    // Work that left this workflow has calls in both.
    place: moved === null ? place.id : d.waveId,
    since: beganAtMs,
    chain_id: before.chain_id,
    executions: [...before.executions, place.run_id, ...(moved === null ? [] : [moved.run_id])],
    usage: addUsage(before.usage, usage),
  };
}

export function isDesigned({ order }: WaveSite): boolean {
  return order.plan !== undefined;
}

function beginsAnew(
  d: WaveSite,
  { delegation_id, executor: { kind } }: DelegationOutline,
  attempt: number,
): boolean {
  const mayBegin = mayBeginAnew({ attempt, kind, is_designed: isDesigned(d) });
  return mayBegin && d.moved.get(delegation_id) !== null;
}

/** @returns the use of the attempt that broke off. */
async function countLost(
  d: WaveSite,
  delegation: DelegationOutline,
  a: Attempts,
  again: boolean,
): Promise<Usage> {
  if (!again) withdraw(d, delegation.delegation_id);
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'lost' });
  const usage = a.spent === null ? await usageOfLost(d, delegation, a) : noUsage;
  a.spent = spendingOf(addUsage(usedBefore(a), usage));
  return usage;
}

/**
 * Returns the usage of work that ended without a report: what the ledger has of its workflow. Of work inside this one the
 * ledger does not tell its calls from those of others: then what its status told counts.
 */
async function usageOfLost(
  d: WaveSite,
  { delegation_id, executor }: DelegationOutline,
  a: Attempts,
): Promise<Usage> {
  const { account, superior, work } = d.context;
  const moved = d.moved.get(delegation_id);
  if (moved === null) {
    const charged = account?.end(delegation_id, null) ?? null;
    return lostUsage(charged === null ? null : { ...charged, calls: Math.max(1, charged.calls) });
  }
  const status = executor.kind === 'agent' ? work.statuses.get(delegation_id)?.usage : undefined;
  const told = moved?.usage ?? status ?? noUsage;
  const recalled = await recallLost({
    place: delegationWorkflowId(d.waveId, delegation_id),
    usage: a.recalled,
    since: a.beganAtMs,
    isLimited: account !== null,
    park: (reason) => superior.park(reason),
  });
  a.recalled = addUsage(a.recalled, recalled);
  // Only the first attempt left: the next ones work in a workflow of their own.
  if (moved !== undefined) d.moved.set(delegation_id, { ...moved, usage: noUsage });
  return addUsage(recalled, told);
}

/** Adds what crashed attempts used, and closes the questions that nobody asked again. */
export function withCrashed(
  d: WaveSite,
  outcome: DelegationOutcome,
  { crashed }: Attempts,
): DelegationOutcome {
  if (crashed === null) return outcome;
  if (outcome.crashes === undefined) withdraw(d, outcome.delegation_id);
  return { ...outcome, usage: addUsage(outcome.usage, crashed.usage) };
}

function withdraw({ context }: WaveSite, delegationId: string): void {
  inBackground(() => context.superior.withdraw(delegationId));
}
