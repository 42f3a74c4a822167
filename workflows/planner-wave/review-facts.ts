import type { OutputFault } from '../../contracts/output-fault.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WaveDecisionOutline } from '../../contracts/wave-decision.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import { readEnd } from '../../core/executor.ts';
import { findMergeConflicts, reviewDecision } from '../shared/activities.ts';
import { untilDone } from '../shared/until-done.ts';
import type { Dispatched } from './dispatch-wave.ts';
import type { WaveContext } from './wave-context.ts';

/** Pool, outputs and the decision's text are in the store, so an activity holds them against each other. */
export async function reviewFacts(
  { record_ref, wave }: WaveOrder,
  { outcomes, merge_conflicts }: Dispatched,
  { decision_ref }: WaveDecisionOutline,
  { superior }: WaveContext,
): Promise<readonly OutputFault[]> {
  const review = {
    record_ref,
    wave,
    outcomes: dropReplacedOutcomes(outcomes).map((outcome) => ({
      delegation_id: outcome.delegation_id,
      status: outcome.status,
      turns: outcome.turns,
      output_ref: outcome.output_ref,
      executor_end: readEnd(outcome.executor),
    })),
    ...(merge_conflicts !== undefined && { merge_conflicts }),
    decision_ref,
  };
  const { faults } = await untilDone(
    () => reviewDecision.executeWithOptions({ summary: 'hold against the pool' }, [review]),
    (reason) => superior.park(reason),
  );
  return faults;
}

/** Adds what the delegations have changed, and the changes of the same lines that the wave's delegations made, as far as they work in copies of a folder. */
export async function addMergeConflicts(
  { run_id, record_ref, changes }: WaveOrder,
  dispatched: Dispatched,
  { superior }: WaveContext,
): Promise<Dispatched> {
  const completed = dispatched.outcomes.flatMap(({ status, delegation_id }) =>
    status === 'completed' ? [delegation_id] : [],
  );
  if (changes === undefined || changes === 'direct' || completed.length === 0) return dispatched;
  const { conflicts, sizes } = await untilDone(
    () =>
      findMergeConflicts.executeWithOptions({ summary: 'merge the changes' }, [
        { run_id, record_ref, completed },
      ]),
    (reason) => superior.park(reason),
  );
  return {
    ...dispatched,
    ...(conflicts.length > 0 && { merge_conflicts: conflicts }),
    ...(sizes.length > 0 && { changes: sizes }),
  };
}
