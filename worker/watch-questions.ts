import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Recorder } from '../core/metrics/create-recorder.ts';
import { metrics } from '../core/metrics/metrics.ts';

const openQuestionsKey = defineSearchAttributeKey('PlanwaveOpenQuestions', SearchAttributeType.INT);
const oldestQuestionKey = defineSearchAttributeKey(
  'PlanwaveOldestQuestion',
  SearchAttributeType.DATETIME,
);

const waitingRuns = 'PlanwaveOpenQuestions > 0 AND ExecutionStatus = "Running"';

/** Most runs that are read each time. With more waiting runs, the figures are "at least". */
const runsMax = 1_000;

const everyMsDefault = 15_000;

/**
 * Reports the open questions of all runs and the age of the oldest, read from the server's list of runs. A run that
 * waits for a person is in no worker's memory, so no worker could report it; runs without a worker count too.
 *
 * @returns a function that stops it.
 */
export function watchQuestions(
  client: Client,
  recorder: Recorder,
  everyMs = everyMsDefault,
): () => void {
  const look = (): void => {
    // An unreachable server is the worker's own problem: the last figures stay.
    void report(client, recorder).catch(() => undefined);
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}

async function report(client: Client, recorder: Recorder): Promise<void> {
  let runs = 0;
  let open = 0;
  let oldestMs = Infinity;
  for await (const run of client.workflow.list({ query: waitingRuns, pageSize: runsMax })) {
    open += run.typedSearchAttributes.get(openQuestionsKey) ?? 0;
    const asked = run.typedSearchAttributes.get(oldestQuestionKey);
    oldestMs = Math.min(oldestMs, asked?.getTime() ?? Infinity);
    runs += 1;
    if (runs === runsMax) break;
  }
  const ageSeconds = oldestMs === Infinity ? 0 : (Date.now() - oldestMs) / 1_000;
  recorder.set(metrics.openQuestions, {}, open);
  recorder.set(metrics.oldestQuestionAge, {}, ageSeconds);
}
