import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { reasonOfCall } from '../../core/turns/failure-reasons.ts';
import type { FailureReason } from '../../core/turns/failure-reasons.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { modelTurn, recallSpent } from './activities.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';
import type { Funds } from './funds.ts';
import { readFailure } from './read-failure.ts';
import type { Superior } from './superior.ts';

export type ModelCall =
  /** The budget allows no further call. */
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'replied'; readonly result: ModelTurnResult }
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

/** Progress callbacks of one model call. */
export interface CallWatch {
  /**
   * Called once when the call begins, however many attempts it needs; not while the call waits for a resume or for its
   * share of a budget.
   */
  readonly onCall: () => void;
  /** Called when the call was not made after all, because it may exceed its allowance. */
  readonly onRefused: () => void;
  /** Called with the billed usage of attempts without a reply. */
  readonly onSpent: (usage: Usage) => void;
}

/**
 * Makes one model call, even through long trouble of the provider: a refused request fails its caller; trouble with the
 * account or the network parks the run, and the call is repeated after a resume.
 */
export async function callModel(
  input: Omit<ModelTurnInput, 'allowance'>,
  summary: string,
  desk: { readonly control: Control; readonly superior: Superior; readonly funds: Funds },
  { onCall, onRefused, onSpent }: CallWatch,
): Promise<ModelCall> {
  let hasFailed = false;
  for (;;) {
    await desk.control.ready();
    const allowed = await desk.funds.allow();
    if (allowed.type === 'denied') return allowed;
    const { allowance } = allowed;
    const began = nowMs();
    const spend = (usage: Usage): void => desk.funds.spend(usage, nowMs() - began);
    if (!hasFailed) onCall();
    try {
      const result = await modelTurn.executeWithOptions({ summary }, [{ ...input, allowance }]);
      spend(result.usage);
      if (result.reply.type !== 'unaffordable') return { type: 'replied', result };
      onSpent(result.usage);
      if (!hasFailed) onRefused();
      desk.funds.expectMore(result.reply.needs);
    } catch (error) {
      if (isCancellation(error)) {
        const spent = await recallCancelled(error);
        spend(spent);
        onSpent(spent);
        throw error;
      }
      hasFailed = true;
      const failure = readFailure(error);
      spend(failure.usage ?? noUsage);
      if (failure.usage !== null) onSpent(failure.usage);
      if (failure.consequence === 'stop') {
        return { type: 'failed', why: reasonOfCall(failure.type), reason: failure.message };
      }
      await desk.superior.park(failure.message);
    }
  }
}

/**
 * Returns the usage of a cancelled call. One that was cancelled in flight reports it in its result; one between two
 * attempts has no result, and the ledger is asked.
 */
async function recallCancelled(error: unknown): Promise<Usage> {
  if (!(error instanceof ActivityFailure) || error.activityId === undefined) return noUsage;
  const { activityId: activity_id } = error;
  try {
    const { usage } = await CancellationScope.nonCancellable(() => recallSpent({ activity_id }));
    return usage;
  } catch (failure) {
    if (failure instanceof ActivityFailure) return noUsage;
    throw failure;
  }
}
