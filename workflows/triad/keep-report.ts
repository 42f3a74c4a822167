import { CancellationScope } from '@temporalio/workflow';
import type { RecordPhaseResult } from '../../contracts/triad-run.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { TriadOutcome } from '../../contracts/triad-run.ts';
import { reportPhase } from '../../core/triad/end-phase.ts';
import { stepSummary } from '../../core/render/labels.ts';
import { recordPhase } from '../shared/activities.ts';
import type { Superior } from '../shared/superior.ts';
import { untilDone } from '../shared/until-done.ts';
import type { PhaseResult } from './phase-order.ts';

/** Part of a delegation's outcome about an attempt at a phase, with its output. */
export type KeptReport = TriadOutcome['phases'][number] & Pick<RecordPhaseResult, 'output_ref'>;

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
  const { report_ref, output_ref } = await CancellationScope.nonCancellable(() =>
    untilDone(
      () =>
        recordPhase.executeWithOptions({ summary: stepSummary(delegation_id, `record ${phase}`) }, [
          { run_id, delegation_id, plan_ref, report },
        ]),
      (reason) => superior.park(reason),
    ),
  );
  return { phase, attempt, status, rounds, report_ref, output_ref };
}
