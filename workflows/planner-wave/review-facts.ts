import type { OutputFault } from '../../contracts/output-fault.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WaveDecisionOutline } from '../../contracts/wave-decision.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import { readEnd } from '../../core/executor.ts';
import { reviewDecision } from '../shared/activities.ts';
import { untilDone } from '../shared/until-done.ts';
import type { Dispatched } from './dispatch-wave.ts';
import type { WaveContext } from './wave-context.ts';

/** Pool, outputs and the decision's text are in the store, so an activity holds them against each other. */
export async function reviewFacts(
  { record_ref, wave }: WaveOrder,
  { outcomes }: Dispatched,
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
    decision_ref,
  };
  const { faults } = await untilDone(
    () => reviewDecision.executeWithOptions({ summary: 'hold against the pool' }, [review]),
    (reason) => superior.park(reason),
  );
  return faults;
}
