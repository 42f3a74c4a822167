import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Allowance } from '../../contracts/budget.ts';
import type { FailureType } from '../../contracts/errors.ts';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { TurnTerms } from '../../contracts/transcript.ts';
import type { Usage } from '../../contracts/usage.ts';
import { restoreUsage, shortenCall } from '../../core/turns/turn-call.ts';
import { reasonOfCall } from '../../core/turns/turns-state.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import { modelTurn, recallSpent } from './activities.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';
import type { Budget } from './budget.ts';
import type { Superior } from './superior.ts';
import { readFailure, untilDone } from './failures.ts';

const tenantBudget = 'TenantBudget' satisfies FailureType;

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
 *
 * @param inputOf Returns what is asked at this moment: a call that waits is told what came meanwhile.
 * @param kept Terms that the conversation keeps; null when it keeps none.
 */
export async function callModel(
  inputOf: () => Omit<ModelTurnInput, 'allowance' | 'refusals'>,
  summary: string,
  kept: TurnTerms | null,
  context: { readonly control: Control; readonly superior: Superior; readonly budget: Budget },
  { onCall, onRefused, onSpent }: CallWatch,
): Promise<ModelCall> {
  let hasFailed = false;
  let refusals = 0;
  for (;;) {
    await context.control.ready();
    const allowed = await context.budget.allow();
    if (allowed.type === 'denied') return allowed;
    const { allowance } = allowed;
    const began = nowMs();
    const spend = (usage: Usage): void => context.budget.spend(usage, nowMs() - began);
    if (!hasFailed) onCall();
    try {
      const call = shortenCall({ ...inputOf(), allowance, refusals }, kept);
      const answer = await modelTurn.executeWithOptions({ summary }, [call]);
      const result = { ...answer, usage: restoreUsage(answer.usage) };
      spend(result.usage);
      if (result.reply.type !== 'unaffordable') return { type: 'replied', result };
      onSpent(result.usage);
      if (!hasFailed) onRefused();
      context.budget.expectMore(result.reply.needs);
    } catch (error) {
      if (isCancellation(error)) {
        const spent = await recallCancelled(error, allowance);
        spend(spent);
        onSpent(spent);
        throw error;
      }
      hasFailed = true;
      const failure = readFailure(error);
      const spent = failure.usage ?? (await recallFailed(error, context.superior));
      spend(spent);
      onSpent(spent);
      if (failure.consequence === 'stop') {
        return { type: 'failed', why: reasonOfCall(failure.type), reason: failure.message };
      }
      await context.superior.park(failure.message, failure.resumeAt);
      if (failure.type === tenantBudget) refusals += 1;
    }
  }
}

/** Asks the ledger for the usage of a call whose failure does not report it, such as a timeout. */
async function recallFailed(error: unknown, { park }: Pick<Superior, 'park'>): Promise<Usage> {
  const activity_id = idOfActivity(error);
  if (activity_id === null) return noUsage;
  const { usage } = await untilDone(() => recallSpent({ activity_id }), park);
  return usage;
}

/**
 * Returns the usage of a cancelled call. One that was cancelled in flight reports it in its result; one between two
 * attempts has no result, and the ledger is asked. If the ledger can't be read, the call has spent its allowance.
 */
async function recallCancelled(error: unknown, allowance: Allowance | null): Promise<Usage> {
  const activity_id = idOfActivity(error);
  if (activity_id === null) return noUsage;
  try {
    const { usage } = await CancellationScope.nonCancellable(() => recallSpent({ activity_id }));
    return usage;
  } catch (failure) {
    if (!(failure instanceof ActivityFailure)) throw failure;
    return lostUsage(allowance);
  }
}

function idOfActivity(error: unknown): string | null {
  return error instanceof ActivityFailure ? (error.activityId ?? null) : null;
}
