import { isRecord } from '../core/json.ts';
import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { signalNames, updateNames } from '../contracts/names.ts';
import type { AnswerInput } from '../contracts/question.ts';
import {
  type ClientContext,
  refusePlainText,
  grpcCodes,
  callServer,
  grpcCodeOf,
  toClientError,
} from './server-calls.ts';
import { PlanwaveClientError } from './client-error.ts';
import { describeRun } from './read-view.ts';
import { refuseEvaluation } from './run-listing.ts';
import { commandText } from '../core/text/format.ts';

export type AnswerResult =
  /** `accepted` is the answer as the run accepted it, or null when the run did not say. */
  | {
      readonly status: 'accepted';
      readonly question_id: string;
      readonly accepted: string | null;
    }
  /** The run is unharmed and the question is unchanged. */
  | {
      readonly status: 'refused';
      readonly question_id: string;
      readonly reason: string;
      /** Payload that would be accepted, if there is one. */
      readonly example: AnswerInput | null;
    }
  /** No worker answered. The answer is recorded with the run and is checked when a worker is there. */
  | { readonly status: 'sent'; readonly question_id: string; readonly note: string };

export interface AnswerOptions {
  /** True when no worker is known to be there: the answer is sent as a signal at once, without waiting for one. */
  readonly workerIsAway?: boolean | undefined;
}

/**
 * Maximum size of an answer. The server takes payloads up to 2 MiB; above that it does not refuse an update but lets it
 * run into its deadline.
 */
const answerBytesMax = 2_000_000;

export async function submitAnswer(
  context: ClientContext,
  runId: string,
  given: AnswerInput,
  options: AnswerOptions,
): Promise<AnswerResult> {
  const answer = context.redact(given);
  const { question_id } = answer;
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes > answerBytesMax) {
    const reason = `the answer has ${bytes} bytes and at most ${answerBytesMax} can be sent. Try: a summary, or the name of a file the agents can read`;
    return { status: 'refused', question_id, reason, example: null };
  }
  refuseEvaluation(await describeRun(context, runId));
  await refusePlainText(context, runId);
  try {
    if (options.workerIsAway === true) {
      return await sendSignal(context, runId, answer, awayNote(runId));
    }
    const receipt = await context.connection.withDeadline(
      Date.now() + context.workerTimeoutMs,
      () =>
        context.workflows
          .getHandle(runId)
          .executeUpdate<unknown, [AnswerInput]>(updateNames.submitAnswer, { args: [answer] }),
    );
    return { status: 'accepted', question_id, accepted: acceptedText(receipt) };
  } catch (error) {
    const reason = `run ${runId} has ended and takes no more answers`;
    const tooLate: AnswerResult = { status: 'refused', question_id, reason, example: null };
    const fault = toClientError(context, runId, error);
    if (isClosed(fault)) return tooLate;
    if (error instanceof WorkflowUpdateFailedError) return refusal(question_id, error);
    const note = noteOfFallback(error, runId);
    if (note === null) throw fault;
    return sendSignal(context, runId, answer, note).catch((late: unknown) => {
      if (isClosed(late)) return tooLate;
      throw late;
    });
  }
}

/**
 * Sends the answer as a signal, which the server records alone. The engine applies an answer that arrives both ways
 * once.
 */
async function sendSignal(
  context: ClientContext,
  runId: string,
  answer: AnswerInput,
  note: string,
): Promise<AnswerResult> {
  await callServer(context, runId, () =>
    context.workflows.getHandle(runId).signal(signalNames.answer, answer),
  );
  return { status: 'sent', question_id: answer.question_id, note };
}

/**
 * Returns the note for an answer that no worker took: there may be none, none of the run's version, or one whose code
 * does not fit; the status says which.
 */
function awayNote(runId: string): string {
  return `No worker takes it now: the answer was sent and will be checked when a worker is there. See: ${commandText('status', runId)}`;
}

const busyNote =
  'The run takes no more updates at this moment: the answer was sent as a signal and will be checked soon.';

/** Explains why a signal gets through where the update did not. Returns null when it would not either. */
function noteOfFallback(error: unknown, runId: string): string | null {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return awayNote(runId);
  const code = grpcCodeOf(error);
  if (code === grpcCodes.unavailable) return awayNote(runId);
  // Too many updates in flight, or in this run's whole history.
  return code === grpcCodes.resourceExhausted || code === grpcCodes.failedPrecondition
    ? busyNote
    : null;
}

function isClosed(error: unknown): boolean {
  return error instanceof PlanwaveClientError && error.code === 'run_ended';
}

function refusal(questionId: string, error: WorkflowUpdateFailedError): AnswerResult {
  const { cause } = error;
  const details = cause instanceof ApplicationFailure ? (cause.details ?? []) : [];
  return {
    status: 'refused',
    question_id: questionId,
    reason: cause?.message ?? error.message,
    example: details.find(isAnswerInput) ?? null,
  };
}

function isAnswerInput(value: unknown): value is AnswerInput {
  return isRecord(value) && 'answer' in value && typeof value['question_id'] === 'string';
}

function acceptedText(receipt: unknown): string | null {
  const accepted = isRecord(receipt) ? receipt['accepted'] : null;
  return typeof accepted === 'string' ? accepted : null;
}
