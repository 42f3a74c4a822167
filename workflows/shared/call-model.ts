import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { modelTurn, recallSpent } from './activities.ts';
import type { Control } from './control.ts';
import { readFailure } from './read-failure.ts';
import type { Superior } from './superior.ts';

export type ModelCall =
  | { readonly type: 'replied'; readonly result: ModelTurnResult }
  | { readonly type: 'failed'; readonly reason: string };

/**
 * One model call, however long the provider's trouble lasts: a refused request fails its caller, trouble with the
 * account or the network parks the run, and the same call is made again when somebody resumes.
 */
export async function callModel(
  input: ModelTurnInput,
  summary: string,
  desk: { readonly control: Control; readonly superior: Superior },
  /** Told what failed calls were billed. */
  onSpent: (usage: Usage) => void,
): Promise<ModelCall> {
  for (;;) {
    await desk.control.ready();
    try {
      return { type: 'replied', result: await modelTurn.executeWithOptions({ summary }, [input]) };
    } catch (error) {
      if (isCancellation(error)) {
        onSpent(await recallCancelled(error));
        throw error;
      }
      const failure = readFailure(error);
      if (failure.usage !== null) onSpent(failure.usage);
      if (failure.consequence === 'stop') return { type: 'failed', reason: failure.message };
      await desk.superior.park(failure.message);
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
