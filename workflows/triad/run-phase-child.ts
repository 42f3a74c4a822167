import { ApplicationFailure, isCancellation, startChild } from '@temporalio/workflow';
import { workflowTypes } from '../../contracts/names.ts';
import { phaseSummary } from '../../core/render/labels.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { readFailure } from '../shared/read-failure.ts';
import { childOptions } from '../shared/child-options.ts';
import type { PhaseOrder, PhaseResult, TriadPhaseArgs } from './phase-order.ts';
import type { ChildEscalations } from '../shared/child-escalations.ts';

/**
 * Starts a phase as a workflow of its own and waits for its end.
 *
 * @param workflowId Id of the phase.
 * @throws when the phase was terminated: its use is unknown, so its delegation is lost with it.
 */
export async function runPhaseChild(
  order: PhaseOrder,
  workflowId: string,
  relay: ChildEscalations,
): Promise<PhaseResult> {
  const { phase, triad } = order;
  const { run_id, delegation } = order.order;
  relay.expect(workflowId);
  const news = relay.news();
  try {
    const child = await startChild<(args: TriadPhaseArgs) => Promise<PhaseResult>>(
      workflowTypes.triadPhase,
      {
        workflowId,
        args: [{ order: { ...order, order: { ...order.order, news } } }],
        ...childOptions(run_id, phaseSummary(triad.type, phase, delegation.title)),
      },
    );
    relay.began(workflowId, lastNewsId(news));
    return await child.result();
  } catch (error) {
    if (isCancellation(error)) throw error;
    throw ApplicationFailure.nonRetryable(`Phase ${phase} was lost: ${readFailure(error).message}`);
  } finally {
    relay.ended(workflowId);
  }
}
