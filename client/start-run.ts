import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { memoKeys, workflowTaskTimeoutMs, workflowTypes } from '../contracts/names.ts';
import type { PlannerRunInput } from '../contracts/planner-run.ts';
import type { TeamInput } from '../contracts/team.ts';
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

export function startRun(
  context: ClientContext,
  given: PlannerRunInput,
  options: StartRunOptions,
): Promise<StartedRun> {
  const input = context.redact(given);
  return start(context, { type: workflowTypes.plannerRun, input, goal: input.goal }, options);
}

/** A team alone: its message is what it is to reach. */
export function startTeam(
  context: ClientContext,
  given: TeamInput,
  options: StartRunOptions,
): Promise<StartedRun> {
  const input = context.redact(given);
  return start(context, { type: workflowTypes.team, input, goal: input.message }, options);
}

/** What is started, without secrets: id and summary are made of the goal, and half a secret would not be known for one. */
interface Start {
  readonly type: string;
  readonly input: PlannerRunInput | TeamInput;
  readonly goal: string;
}

async function start(
  context: ClientContext,
  what: Start,
  { run_id }: StartRunOptions,
): Promise<StartedRun> {
  const runId = run_id === undefined ? generateRunId(what.goal, Date.now()) : checkRunId(run_id);
  await callServer(context, runId, () => startOnce(context, runId, what));
  return { run_id: runId };
}

/** One id is one run for as long as the server remembers it, whether that run is open or closed. */
async function startOnce(
  context: ClientContext,
  runId: string,
  { type, input, goal: given }: Start,
): Promise<void> {
  const goal = given.replaceAll(/\s+/g, ' ').trim();
  try {
    await context.workflows.start(type, {
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
