import { WorkflowFailedError } from '@temporalio/client';
import type { EvaluationInput, EvaluationResult } from '../contracts/evaluation.ts';
import { workflowTaskTimeoutMs, workflowTypes } from '../contracts/names.ts';
import { hashText } from '../core/text/hash-text.ts';
import { PlanwaveClientError } from './client-error.ts';
import { describeFailure } from './read-view.ts';
import { callServer, toClientError } from './server-calls.ts';
import type { ClientContext } from './server-calls.ts';

/** An evaluation that is at work or has just been started. */
export interface StartedEvaluation {
  readonly evaluation_id: string;
  /** Waits for its end, however long that takes. */
  result(): Promise<EvaluationResult>;
}

/**
 * Starts an evaluation, or returns to the one of the same input that is at work. Cells that ran before are not bought again,
 * so a repetition goes on where an earlier one was left.
 *
 * @throws PlanwaveClientError
 */
export async function evaluate(
  context: ClientContext,
  given: EvaluationInput,
): Promise<StartedEvaluation> {
  const input = context.redact(given);
  const evaluation_id = evaluationIdOf(input);
  const handle = await callServer(context, evaluation_id, () =>
    context.workflows.start<(typed: EvaluationInput) => Promise<EvaluationResult>>(
      workflowTypes.evaluation,
      {
        workflowId: evaluation_id,
        taskQueue: context.taskQueue,
        args: [input],
        workflowTaskTimeout: workflowTaskTimeoutMs,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `evaluation ${input.name}`,
      },
    ),
  );
  return {
    evaluation_id,
    async result() {
      try {
        return await handle.result();
      } catch (error) {
        throw toEvaluationError(context, evaluation_id, error);
      }
    },
  };
}

/** Most characters of the name in an id: ids of its runs are slugs. */
const nameCharsMax = 16;

/** Equal inputs have equal ids. */
function evaluationIdOf(input: EvaluationInput): string {
  const hash = hashText(JSON.stringify(input)).slice(0, 8);
  return `eval-${input.name.slice(0, nameCharsMax).replace(/(?<!-)-+$/, '')}-${hash}`;
}

function toEvaluationError(
  context: ClientContext,
  id: string,
  error: unknown,
): PlanwaveClientError {
  if (!(error instanceof WorkflowFailedError)) return toClientError(context, id, error);
  const end = describeFailure(error);
  const { type, reason } = 'reason' in end ? end : { type: null, reason: '' };
  const code = type === 'InvalidInput' ? 'bad_input' : 'internal';
  const message = `The evaluation ${id} was ${end.ended.replaceAll('_', ' ')}: ${reason}`;
  return new PlanwaveClientError(code, message, { cause: error });
}
