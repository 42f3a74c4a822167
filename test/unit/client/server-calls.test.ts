import {
  Connection,
  NamespaceNotFoundError,
  ServiceError,
  WorkflowFailedError,
} from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  RetryState,
  TerminatedFailure,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { ifFound, ifOpen, PlanwaveClientError } from '../../../client/client-error.ts';
import { describeFailure } from '../../../client/read-view.ts';
import { toClientError } from '../../../client/server-calls.ts';

const server = { connection: Connection.lazy(), address: 'temporal.test:7233', namespace: 'prod' };

function grpcError(code: number, text: string): ServiceError {
  const cause = Object.assign(new Error(`${code} NAME: ${text}`), {
    code,
    details: text,
    metadata: {},
  });
  return new ServiceError('Failed', { cause });
}

it.each([
  [new WorkflowNotFoundError('no', 'run-1', undefined), 'not_found', /no run "run-1".*list/],
  [
    new WorkflowNotFoundError('workflow execution already completed', 'run-1', undefined),
    'run_ended',
    /^Run run-1 has ended.*report run-1/,
  ],
  // What the server says of an update that arrives while the last workflow task of a run is at work.
  [
    new WorkflowNotFoundError(
      'workflow update was aborted by closing workflow',
      'run-1',
      undefined,
    ),
    'run_ended',
    /^Run run-1 has ended.*report run-1/,
  ],
  [new NamespaceNotFoundError('prod'), 'not_found', /no namespace "prod".*namespace create/],
  [grpcError(14, 'gone'), 'unreachable', /temporal\.test:7233 no longer answers.*npm run dev/],
  [grpcError(4, 'late'), 'unreachable', /TEMPORAL_ADDRESS/],
  [grpcError(16, 'who?'), 'unauthorized', /refused the credentials.*TEMPORAL_API_KEY/],
  [grpcError(7, 'no'), 'unauthorized', /refused the credentials/],
  [grpcError(8, 'slow down'), 'unreachable', /overloaded: slow down/],
  [
    grpcError(3, 'search attribute PlanwaveRun is not defined.'),
    'bad_input',
    /search attribute PlanwaveRun is not defined\. Try: npm run planwave -- doctor/,
  ],
  [new Error('odd'), 'internal', /^odd$/],
])('%s is %s', (error, code, message) => {
  const shown = toClientError(server, 'run-1', error);
  expect(shown.code).toBe(code);
  expect(shown.message).toMatch(message);
  expect(shown.message).not.toContain('\n');
});

it('leaves its own errors as they are', () => {
  const error = new PlanwaveClientError('bad_input', 'x');
  expect(toClientError(server, null, error)).toBe(error);
});

const failed = (cause: Error): WorkflowFailedError =>
  new WorkflowFailedError('Workflow execution failed', cause, RetryState.NON_RETRYABLE_FAILURE);

it('names the innermost failure of a run', () => {
  const inner = ApplicationFailure.nonRetryable('goal: expected a goal', 'InvalidInput');
  const activity = new ActivityFailure(
    'Activity task failed',
    'openRun',
    '1',
    RetryState.NON_RETRYABLE_FAILURE,
    undefined,
    inner,
  );
  expect(describeFailure(failed(activity))).toEqual({
    ended: 'failed',
    type: 'InvalidInput',
    reason: 'goal: expected a goal',
  });
});

it('tells cancelled from terminated', () => {
  expect(describeFailure(failed(new CancelledFailure('x'))).ended).toBe('cancelled');
  expect(describeFailure(failed(new TerminatedFailure('by hand')))).toEqual({
    ended: 'terminated',
    type: null,
    reason: 'by hand',
  });
});

const refuse = (code: 'run_ended' | 'not_found' | 'internal') =>
  Promise.reject(new PlanwaveClientError(code, 'my-run'));

it('a message to a run that has ended is no failure where it needs none', async () => {
  expect(await ifOpen(refuse('run_ended'))).toBeNull();
  expect(await ifOpen(refuse('not_found'))).toBeNull();
  await expect(ifOpen(refuse('internal'))).rejects.toThrow('my-run');
  await expect(ifFound(refuse('run_ended'))).rejects.toThrow('my-run');
});
