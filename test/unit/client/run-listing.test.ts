import type { WorkflowExecutionInfo } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { toRunListing } from '../../../client/run-listing.ts';

type Info = Parameters<typeof toRunListing>[0];

/** A run whose worker recorded a phase last. */
function closed(name: WorkflowExecutionInfo['status']['name'], phase: string): Info {
  return {
    type: 'plannerRun',
    workflowId: 'run-1',
    runId: 'first',
    taskQueue: 'planwave',
    status: { code: 1, name },
    historyLength: 5,
    startTime: new Date(0),
    memo: { phase },
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
  };
}

it.each([
  ['FAILED', 'intake', 'failed'],
  ['TERMINATED', 'running', 'terminated'],
  ['CANCELLED', 'intake', 'cancelled'],
  ['TIMED_OUT', 'planning', 'timed_out'],
  ['RUNNING', 'intake', 'intake'],
  ['COMPLETED', 'finished_unmet', 'finished_unmet'],
] as const)('a run that is %s after the phase %s has the phase %s', (name, recorded, phase) => {
  expect(toRunListing(closed(name, recorded))).toMatchObject({ phase });
});
