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
  /** Nothing may be spent any more. */
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'replied'; readonly result: ModelTurnResult }
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

/** Told how a call comes along. */
export interface CallWatch {
  /** It is made. Told once, however often it is tried; never while the call waits for a resume or for its share of a budget. */
  readonly onCall: () => void;
  /** It was not made after all: it may take more than its allowance. */
  readonly onRefused: () => void;
  /** What attempts that gave no reply were billed. */
  readonly onSpent: (usage: Usage) => void;
}

/**
 * One model call, however long the provider's trouble lasts: a refused request fails its caller, trouble with the
 * account or the network parks the run, and the same call is made again when somebody resumes.
 */
export async function callModel(
  input: Omit<ModelTurnInput, 'allowance'>,
  summary: string,
  context: { readonly control: Control; readonly superior: Superior; readonly funds: Funds },
  { onCall, onRefused, onSpent }: CallWatch,
): Promise<ModelCall> {
  let hasFailed = false;
  for (;;) {
    await context.control.ready();
    const allowed = await context.funds.allow();
    if (allowed.type === 'denied') return allowed;
    const { allowance } = allowed;
    const began = nowMs();
    const spend = (usage: Usage): void => context.funds.spend(usage, nowMs() - began);
    if (!hasFailed) onCall();
    try {
      const result = await modelTurn.executeWithOptions({ summary }, [{ ...input, allowance }]);
      spend(result.usage);
      if (result.reply.type !== 'unaffordable') return { type: 'replied', result };
      onSpent(result.usage);
      if (!hasFailed) onRefused();
      context.funds.expectMore(result.reply.needs);
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
      await context.superior.park(failure.message);
    }
  }
}

/**
 * A call that was cancelled in flight tells what it was billed in its result. One that was cancelled between two
 * attempts has no result; the ledger knows.
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
