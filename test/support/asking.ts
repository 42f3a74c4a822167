import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Question, RejectedAnswer } from '../../contracts/question.ts';
import { eventually } from './eventually.ts';
import { blocked, completed, held, question } from './scripted-work.ts';
import type { Stage } from './stage.ts';

/** Waits until a run has this many open questions, and returns them. */
export function openQuestions(
  stage: Stage,
  run: WorkflowHandle,
  count = 1,
): Promise<readonly Question[]> {
  return eventually(`${count} open questions`, async () => {
    const view = await stage.questions(run);
    return view.open.length === count && view.open;
  });
}

/** Waits for the open question with this id. */
export function openQuestion(stage: Stage, run: WorkflowHandle, id = 'q1'): Promise<Question> {
  return eventually(`the open question ${id}`, async () =>
    (await stage.questions(run)).open.find(({ question_id }) => question_id === id),
  );
}

/** Waits until a run has this many rejected messages, and returns them. */
export function rejectedMessages(
  stage: Stage,
  run: WorkflowHandle,
  count: number,
): Promise<readonly RejectedAnswer[]> {
  return eventually(`${count} rejected messages`, async () => {
    const view = await stage.questions(run);
    return view.rejected.length === count && view.rejected;
  });
}

/**
 * Starts a delegation whose reply asks a question after its worker has taken its last workflow task: what is sent now
 * reaches the next worker together with the reply. The stage needs a grace in which the call still ends.
 */
export async function askWithoutWorker(stage: Stage, runId?: string): Promise<WorkflowHandle> {
  const asks = held({ json: blocked([question('Which region?')], 'c1') });
  stage.rehearsal.script([{ times: 1, reply: asks.reply }, { reply: { json: completed('c1') } }]);
  const input = { agent_id: 'writer', task_description: 'Host the backup' };
  const run = await stage.start('delegation', input, runId);
  await stage.rehearsal.waitForCalls(1);
  const stopped = stage.stopWorker();
  asks.release();
  await stopped;
  return run;
}

export function submit(run: WorkflowHandle, payload: unknown): Promise<unknown> {
  return run.executeUpdate('submitAnswer', { args: [payload] });
}

/** Sends an answer by update that must be refused. Resolves with the reason and the example in it. */
export async function refusalOf(
  run: WorkflowHandle,
  payload: unknown,
): Promise<{ readonly reason: string; readonly example: unknown }> {
  const error: unknown = await submit(run, payload).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : error;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'AnswerRefused') {
    throw new Error(`Expected a refused answer, not: ${String(cause)}`);
  }
  return { reason: cause.message, example: cause.details?.[0] };
}
