import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { boundTriad, reportPhase } from '../../core/triad/end-phase.ts';
import type { PhaseState } from '../../core/triad/phase-state.ts';
import { outcomeOfOutput, outcomeWithout } from '../execution/execution-context.ts';
import { CancellationScope } from '@temporalio/workflow';
import { stepSummary } from '../../core/render/labels.ts';
import { recordPhase } from '../shared/activities.ts';
import type { Superior } from '../shared/superior.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { TriadOutline } from '../../contracts/triad.ts';
import type { TriadOutcome, RecordPhaseResult } from '../../contracts/triad-run.ts';
import { recorder } from '../shared/in-span.ts';
import type { CarriedWork, PhaseResult } from './member-at-work.ts';

/** Sources of a triad's outcome. */
export interface TriadWork {
  readonly order: DelegationOrder;
  readonly triad: TriadOutline;
  readonly carried: CarriedWork;
  readonly usage: DelegationOutcome['usage'];
  /** State of the newest phase; null before the first. */
  readonly state: PhaseState | null;
}

/** Counts model calls of all members. */
export function countCalls({ calls }: CarriedWork): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}

/** @param last End of the last attempt at a phase; null when the triad was stopped before its first. */
export function buildTriadOutcome(
  t: TriadWork,
  last: PhaseResult | null,
  reports: readonly KeptReport[],
): DelegationOutcome {
  const { order, carried, usage } = t;
  const executor = { kind: 'triad', work: boundTriad(triadOutcome(t, last, reports)) } as const;
  const { loaded_details, effects } = carried;
  const work = { loaded_details, turns: countCalls(carried), usage, effects };
  const output = last?.status === 'done' ? last.state.output : null;
  if (output !== null && last?.state.phase === 'execute') {
    noteFailure(order, output.status);
    // Includes the minority report, if there is one.
    const output_ref = reports.at(-1)?.output_ref ?? output.output_ref;
    return { ...outcomeOfOutput(order.delegation, work, { ...output, output_ref }), executor };
  }
  const outcome = outcomeWithout(order.delegation, work, endOf(last));
  return { ...outcome, output_ref: unfinishedOf(last, reports), executor };
}

/** Returns what the newest phase that came to anything has left of an output. A single phase that is done hands over its summary. */
function unfinishedOf(last: PhaseResult | null, reports: readonly KeptReport[]): Ref | null {
  if (last?.status === 'done') return null;
  return reports.findLast((one) => one.unfinished_ref !== undefined)?.unfinished_ref ?? null;
}

function endOf(last: PhaseResult | null): Pick<DelegationOutcome, 'status' | 'reason'> {
  // A single phase is done without an output; the later phases decide which criteria are met.
  if (last?.status === 'done') return { status: 'completed', reason: '' };
  const failed = last?.failed ?? null;
  return failed === null
    ? { status: 'stopped', reason: 'stopped while it worked' }
    : { status: 'failed', reason: describeFailure(failed.failure) };
}

function describeFailure({ agent, phase, message }: NonNullable<TriadOutcome['failure']>): string {
  return `${agent} failed in ${phase}: ${message}`;
}

function triadOutcome(
  { triad, state }: TriadWork,
  last: PhaseResult | null,
  reports: readonly KeptReport[],
): TriadOutcome {
  const { type, reason, members } = triad;
  return {
    type,
    reason,
    members,
    phases: reports.map(({ phase, attempt, status, rounds, report_ref }) => ({
      phase,
      attempt,
      status,
      rounds,
      report_ref,
    })),
    dissent: state === null ? [] : findDissent(state.spec),
    failure: last?.failed?.failure ?? null,
  };
}

/** Counts the writer's own failure; those of rules and provider are counted where they happen. */
function noteFailure({ delegation }: DelegationOrder, status: string): void {
  if (status !== 'failed') return;
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'agent_failed' });
}

/** Part of a delegation's outcome about an attempt at a phase, with its output. */
export type KeptReport = TriadOutcome['phases'][number] &
  Pick<RecordPhaseResult, 'output_ref' | 'unfinished_ref' | 'partial_ref'>;

/** Records the end of an attempt at a phase, even when the delegation is stopped at the same time. */
export async function keepReport(
  { run_id, plan_ref, delegation }: DelegationOrder,
  { state, status, failed, usage }: PhaseResult,
  attempt: number,
  superior: Superior,
): Promise<KeptReport> {
  const { phase, round: rounds } = state;
  const { delegation_id } = delegation;
  const failure = failed?.failure ?? null;
  const report = reportPhase(state, { attempt, status, failure, usage });
  const { report_ref, ...kept } = await CancellationScope.nonCancellable(() =>
    callUntilDone(superior, recordPhase, stepSummary(delegation_id, `record ${phase}`), {
      run_id,
      delegation_id,
      plan_ref,
      report,
    }),
  );
  return { phase, attempt, status, rounds, report_ref, ...kept };
}
