import { CancellationScope, sleep } from '@temporalio/workflow';
import type { KnownSpent } from '../../contracts/planner-wave.ts';
import type { Usage } from '../../contracts/usage.ts';
import { subtractUsage } from '../../core/usage/add-usage.ts';
import { recallRunSpent } from './activities.ts';
import type { RootHost } from './root-host.ts';
import { knownSpent } from './root-state.ts';
import { untilDone } from './until-done.ts';

/**
 * Longer than a heartbeat of a model call may take: an attempt whose workflow is gone learns it within that time and sends
 * nothing after it.
 */
const lastRequestMs = 10_000;

/** A part of a run whose end nobody told. */
interface Lost extends KnownSpent {
  /** Workflow id of the part, or of the whole run. */
  readonly place: string;
  /** True when a budget depends on it. Then requests that may still be on their way are waited for. */
  readonly isLimited: boolean;
  readonly park: (reason: string) => Promise<void>;
}

/**
 * Returns what a part of a run used beyond what is known: from the reply ledger, which has each call whatever became of the
 * workflow that made it. Is not cancelled: what was spent must be known at the end too.
 */
export function recallLost({ place, usage, since, isLimited, park }: Lost): Promise<Usage> {
  return CancellationScope.nonCancellable(async () => {
    if (isLimited) await sleep(lastRequestMs);
    return recallMissed({ place, usage, since, park });
  });
}

/** Returns what a wave or a design of the run used that ended without a report. */
export function recallLostPart(host: RootHost): Promise<Usage> {
  const { runId, state } = host;
  return recallLost({
    place: runId,
    ...knownSpent(state),
    isLimited: state.budget !== null,
    park: (reason) => host.park(reason),
  });
}

/** Returns what was spent below a place beyond what is known, as after a reset. */
export async function recallMissed({
  place,
  usage,
  since,
  park,
}: Omit<Lost, 'isLimited'>): Promise<Usage> {
  const recalled = await untilDone(
    () =>
      recallRunSpent.executeWithOptions({ summary: `what ${place} has spent` }, [{ place, since }]),
    park,
  );
  return subtractUsage(recalled.usage, usage);
}
