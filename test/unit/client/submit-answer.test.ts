import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { ClientContext } from '../../../client/server-calls.ts';
import { submitAnswer, type AnswerOptions } from '../../../client/submit-answer.ts';

const answer = { question_id: 'q1', answer: 'eu-west' };

const tooLate = {
  status: 'refused',
  question_id: 'q1',
  reason: 'run run-1 has ended and takes no more answers',
  example: null,
};

const completed = new WorkflowNotFoundError(
  'workflow execution already completed',
  'run-1',
  undefined,
);
const closing = new WorkflowNotFoundError(
  'workflow update was aborted by closing workflow',
  'run-1',
  undefined,
);
const late = new WorkflowUpdateRPCTimeoutOrCancelledError('late');

/** Creates the error of an update that its run refused, or that the end of its run overtook. */
function failed(type: string, message: string, details: unknown[] = []): Error {
  const cause = ApplicationFailure.create({ type, message, details, nonRetryable: true });
  return new WorkflowUpdateFailedError('Workflow Update failed', cause);
}

interface Ways {
  readonly update?: Error;
  readonly signal?: Error;
}

/** Submits the answer to a run that is open when it is looked up. A way without an error takes it. */
async function submitTo({ update, signal }: Ways, options: AnswerOptions = {}) {
  const sent: string[] = [];
  const send = async (way: string, error: Error | undefined): Promise<void> => {
    sent.push(way);
    if (error !== undefined) throw error;
  };
  const described = {
    workflowId: 'run-1',
    type: 'plannerRun',
    status: { name: 'RUNNING' },
    startTime: new Date(0),
    typedSearchAttributes: { getAll: () => [] },
  };
  // No more of the context than the function uses.
  const context: ClientContext = Object.assign(Object.create(null), {
    address: 'temporal.test:7233',
    namespace: 'default',
    workerTimeoutMs: 1_000,
    hasKeys: true,
    redact: (outgoing: unknown) => outgoing,
    connection: { withDeadline: (_deadline: number, work: () => unknown) => work() },
    lists: { getHandle: () => ({ describe: async () => described }) },
    workflows: {
      getHandle: () => ({
        executeUpdate: () => send('update', update),
        signal: () => send('signal', signal),
      }),
    },
  });
  return { result: await submitAnswer(context, 'run-1', answer, options), sent };
}

it.each<[string, Ways, AnswerOptions, string[]]>([
  ['when it arrives', { update: completed }, {}, ['update']],
  ['with the task that it waits for', { update: closing }, {}, ['update']],
  [
    'after it has accepted the answer',
    {
      update: failed(
        'AcceptedUpdateCompletedWorkflow',
        'Workflow Update failed because the Workflow completed before the Update completed.',
      ),
    },
    {},
    ['update'],
  ],
  ['before the signal that follows', { update: late, signal: completed }, {}, ['update', 'signal']],
  ['without a worker', { signal: completed }, { workerIsAway: true }, ['signal']],
])('an answer is too late for a run that has ended %s', async (_when, ways, options, sent) => {
  expect(await submitTo(ways, options)).toEqual({ result: tooLate, sent });
});

it('an answer that no worker takes in time is sent as a signal, and one that the run refuses is not', async () => {
  const { result, sent } = await submitTo({ update: late });
  expect(result).toMatchObject({ status: 'sent', note: expect.stringContaining('No worker') });
  expect(sent).toEqual(['update', 'signal']);
  const example = { question_id: 'q1', answer: 'your answer' };
  expect(await submitTo({ update: failed('Refused', 'no such choice', [example]) })).toEqual({
    result: { status: 'refused', question_id: 'q1', reason: 'no such choice', example },
    sent: ['update'],
  });
});

it('a signal that fails for another reason fails the submission', async () => {
  await expect(submitTo({ update: late, signal: new Error('odd') })).rejects.toThrow(/^odd$/);
});
