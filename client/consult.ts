import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import type { StoreIdentity } from '../contracts/store.ts';
import { workflowTaskTimeoutMs, workflowTypes } from '../contracts/names.ts';
import { consultationWorkflowId } from '../core/ids.ts';
import { PlanwaveClientError } from './client-error.ts';
import { describeRun } from './read-view.ts';
import { callServer } from './server-calls.ts';
import type { ClientContext } from './server-calls.ts';
import type { ConsultationInput, ConsultationResult } from '../contracts/design-run.ts';
import { commandText } from '../core/text/format.ts';

/** A person waits for the answer. */
const answerMinutesMax = 15;

function lateAnswer(cause: unknown): PlanwaveClientError {
  const message = `There was no answer within ${answerMinutesMax} minutes. Try: ${commandText('doctor')}`;
  return new PlanwaveClientError('internal', message, { cause });
}

/**
 * Has an agent of a run's design answer a question. Works at any time, also after the run has ended, and changes nothing.
 *
 * @throws PlanwaveClientError `bad_input` when there is no such run or no design, or when workers have other stores than the run; `internal` without an answer.
 */
export async function consult(
  context: ClientContext,
  given: ConsultationInput,
): Promise<ConsultationResult> {
  const { run_id, role } = given;
  const store = await findStore(context, run_id);
  const input = context.redact({ ...given, ...(store !== null && { store }) });
  const workflowId = consultationWorkflowId(run_id, Date.now().toString(36));
  const handle = await callServer(context, run_id, () =>
    context.workflows.start(workflowTypes.consultation, {
      workflowId,
      taskQueue: context.taskQueue,
      args: [input],
      workflowTaskTimeout: workflowTaskTimeoutMs,
      workflowExecutionTimeout: `${answerMinutesMax} minutes`,
      staticSummary: `question to the ${role} of ${run_id}`,
    }),
  );
  try {
    const result: ConsultationResult = await handle.result();
    return result;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure)) throw lateAnswer(error);
    const code = cause.type === 'InvalidInput' ? 'bad_input' : 'internal';
    throw new PlanwaveClientError(code, cause.message, { cause: error });
  }
}

/** Returns the store in which a run is kept; null when it recorded none, or the server has forgotten it. */
async function findStore(context: ClientContext, runId: string): Promise<StoreIdentity | null> {
  try {
    return (await describeRun(context, runId)).store;
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'not_found') return null;
    throw error;
  }
}
