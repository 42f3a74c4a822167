import { DefaultLogger, Runtime } from '@temporalio/worker';
import { loadWorkflowBundle } from '../worker/bundle-workflows.ts';
import { replayHistories } from '../worker/replay-histories.ts';
import type { RecordedWorkflow, ReplayedWorkflow } from '../worker/replay-histories.ts';
import { isTraced } from '../worker/worker-settings.ts';

/** As `replayHistories`. What does not fit is reported by the result, so the SDK need not log it too. */
export async function* replayQuietly(
  histories: AsyncIterable<RecordedWorkflow>,
): AsyncIterableIterator<ReplayedWorkflow> {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    shutdownSignals: [],
  });
  yield* replayHistories(histories, await loadWorkflowBundle({ traced: isTraced(process.env) }));
}
