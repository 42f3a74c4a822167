import { DefaultLogger, Runtime } from '@temporalio/worker';
import { loadWorkflowBundle } from '../worker/bundle-workflows.ts';
import { replayHistories } from '../worker/replay-histories.ts';
import type { RecordedWorkflow, ReplayedWorkflow } from '../worker/replay-histories.ts';
import { isTraced } from '../worker/worker-settings.ts';

/** Replays like `replayHistories`, without the SDK's log: the result reports every fault. */
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
