import { isCancellation } from '@temporalio/workflow';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { modelTurn } from './activities.ts';
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
      if (isCancellation(error)) throw error;
      const failure = readFailure(error);
      if (failure.usage !== null) onSpent(failure.usage);
      if (failure.consequence === 'stop') return { type: 'failed', reason: failure.message };
      await desk.superior.park(failure.message);
    }
  }
}
