import { cutText } from '../core/text/cut-text.ts';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { memoKeys, workflowTaskTimeoutMs, workflowTypes } from '../contracts/names.ts';
import type { PlannerRunInput } from '../contracts/planner-run.ts';
import type { TeamInput } from '../contracts/team.ts';
import type { ClientContext } from './server-calls.ts';
import { PlanwaveClientError } from './client-error.ts';
import { callServer } from './server-calls.ts';
import { chooseLoad, toPriority } from '../core/run/run-place.ts';
import { commandText } from '../core/text/format.ts';
import { Slug } from '../contracts/agent-definition.ts';

export interface StartRunOptions {
  /** If undefined: made of the goal's first words and the time; with keys, of the time alone. */
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

/** A start without secrets: id and summary are made of the goal, and half a secret would not be recognised. */
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
  // Ids are never encrypted, so with keys they have no words of the goal.
  const words = context.hasKeys ? '' : what.goal;
  const runId = run_id === undefined ? generateRunId(words, Date.now()) : checkRunId(run_id);
  await callServer(context, runId, () => startOnce(context, runId, what));
  return { run_id: runId };
}

/** One id is one run for as long as the server remembers it, whether that run is open or closed. */
async function startOnce(
  context: ClientContext,
  runId: string,
  { type, input, goal: given }: Start,
): Promise<void> {
  const { summary, memo } = describeGoal(given);
  try {
    await context.workflows.start(type, {
      workflowId: runId,
      taskQueue: context.taskQueue,
      args: [input],
      workflowTaskTimeout: workflowTaskTimeoutMs,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      ...toPriority(chooseLoad(input).load),
      staticSummary: summary,
      memo: { [memoKeys.goal]: memo },
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

/** Returns the goal in one line, cut for the summary and for the memo of a workflow. @param given without secrets. */
export function describeGoal(given: string): { readonly summary: string; readonly memo: string } {
  const goal = given.replaceAll(/\s+/g, ' ').trim();
  return {
    summary: cutText(goal, summaryCharactersMax),
    memo: cutText(goal, memoCharactersMax),
  };
}

/** A run id must be a slug because paths and the ids of all its workflows begin with it. */
const lengthMax = 40;

/**
 * A readable id for a new run: the goal's first words and the start time in base 36.
 * Goals without a Latin letter or a digit give `run-<time>`.
 */
export function generateRunId(goal: string, nowMs: number): string {
  const suffix = Math.max(0, Math.trunc(nowMs)).toString(36);
  const words = goal
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return `${cutAtWord(words, lengthMax - suffix.length - 1) || 'run'}-${suffix}`;
}

/** @throws PlanwaveClientError `bad_input` when the id can't be used in paths and workflow ids. */
export function checkRunId(runId: string): string {
  if (Slug.safeParse(runId).success) return runId;
  throw new PlanwaveClientError(
    'bad_input',
    `run id ${JSON.stringify(runId)}: expected 1 to ${lengthMax} lower-case letters, digits, "-" or "_", ` +
      'beginning with a letter or digit. Try: --id market-research',
  );
}

function cutAtWord(words: string, charactersMax: number): string {
  const cut = words.slice(0, charactersMax);
  const inWord = words.length > charactersMax && words[charactersMax] !== '-';
  const end = inWord ? cut.lastIndexOf('-') : cut.length;
  return (end > 0 ? cut.slice(0, end) : cut).replace(/(?<!-)-+$/, '');
}
