import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayHistories } from '../../worker/replay-histories.ts';
import type { RecordedWorkflow, ReplayedWorkflow } from '../../worker/replay-histories.ts';

/** As `replayHistories`. What does not fit is reported by the result, so the SDK need not log it too. */
export function replayQuietly(
  histories: AsyncIterable<RecordedWorkflow>,
): AsyncIterableIterator<ReplayedWorkflow> {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    shutdownSignals: [],
  });
  return replayHistories(histories);
}
