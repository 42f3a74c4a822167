import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { memoKeys, workflowTaskTimeoutMs, workflowTypes } from '../contracts/names.ts';
import type { PlannerRunInput } from '../contracts/planner-run.ts';
import type { ClientContext } from './client-context.ts';
import { PlanwaveClientError } from './client-error.ts';
import { commandText } from './command-text.ts';
import { checkRunId, generateRunId } from './run-id.ts';
import { callServer } from './server-calls.ts';

export interface StartRunOptions {
  /** If undefined: made of the goal's first words and the time. */
  readonly run_id?: string | undefined;
}

export interface StartedRun {
  readonly run_id: string;
}

const summaryCharactersMax = 200;
/** Lists carry the memo of every run, so a goal of many pages is cut there. The workflow has it whole. */
const memoCharactersMax = 1_000;
const runKey = defineSearchAttributeKey('PlanwaveRun', SearchAttributeType.KEYWORD);

export async function startRun(
  context: ClientContext,
  given: PlannerRunInput,
  options: StartRunOptions,
): Promise<StartedRun> {
  // First of all: id and summary are made of the goal, and half a secret would not be known for one.
  const input = context.redact(given);
  const runId =
    options.run_id === undefined
      ? generateRunId(input.goal, Date.now())
      : checkRunId(options.run_id);
  await callServer(context, runId, () => startOnce(context, runId, input));
  return { run_id: runId };
}

/** One id is one run for as long as the server remembers it, whether that run is open or closed. */
async function startOnce(
  context: ClientContext,
  runId: string,
  input: PlannerRunInput,
): Promise<void> {
  const goal = input.goal.replaceAll(/\s+/g, ' ').trim();
  try {
    await context.workflows.start(workflowTypes.plannerRun, {
      workflowId: runId,
      taskQueue: context.taskQueue,
      args: [input],
      workflowTaskTimeout: workflowTaskTimeoutMs,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: cut(goal, summaryCharactersMax),
      memo: { [memoKeys.goal]: cut(goal, memoCharactersMax) },
      typedSearchAttributes: [{ key: runKey, value: runId }],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new PlanwaveClientError(
      'already_exists',
      `A run ${JSON.stringify(runId)} exists already; nothing was started. ` +
        `Try: ${commandText('watch', runId)}, or another --id.`,
      { cause: error },
    );
  }
}

function cut(text: string, charactersMax: number): string {
  const characters = Array.from(text);
  return characters.length <= charactersMax
    ? text
    : `${characters.slice(0, charactersMax - 1).join('')}…`;
}
