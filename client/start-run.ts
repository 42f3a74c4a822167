import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { cutText } from '../core/text/cut-text.ts';
import { memoKeys, workflowTypes } from '../contracts/names.ts';
import { PlannerRunInput } from '../contracts/planner-run.ts';
import { TeamInput } from '../contracts/team.ts';
import { chooseLoad, toPriority } from '../core/run/run-place.ts';
import { commandText } from '../core/text/format.ts';
import { Slug } from '../contracts/agent-definition.ts';
import { consultationWorkflowId } from '../core/ids.ts';
import type { ConsultationInput, ConsultationResult } from '../contracts/design-run.ts';
import type { EvaluationInput, EvaluationResult } from '../contracts/evaluation.ts';
import { hashText } from '../core/text/hash-text.ts';
import { checkInput } from './check-input.ts';
import { type ClientContext, callServer, toClientError } from './server-calls.ts';
import { ifFound, PlanwaveClientError, type ClientErrorCode } from './client-error.ts';
import { describeRun, describeFailure } from './read-view.ts';

export interface StartRunOptions {
  /** Default: made of the goal's first words and the time; with keys, of the time alone. */
  readonly run_id?: string | undefined;
}

export interface StartedRun {
  readonly run_id: string;
}

const summaryCharactersMax = 200;
/** Lists carry the memo of every run, so a goal of many pages is cut there. The workflow has it whole. */
const memoCharactersMax = 1_000;
const runKey = defineSearchAttributeKey('PlanwaveRun', SearchAttributeType.KEYWORD);

/** @throws PlanwaveClientError `bad_input` with every wrong field and value, before anything is sent. */
export async function startRun(
  context: ClientContext,
  given: PlannerRunInput,
  options: StartRunOptions,
): Promise<StartedRun> {
  checkInput(PlannerRunInput, given, { of: 'run' });
  const input = context.redact(given);
  return start(context, { type: workflowTypes.plannerRun, input, goal: input.goal }, options);
}

/** Starts a team alone: its message is what it is to reach. @throws PlanwaveClientError as `startRun` */
export async function startTeam(
  context: ClientContext,
  given: TeamInput,
  options: StartRunOptions,
): Promise<StartedRun> {
  checkInput(TeamInput, given, { of: 'team' });
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

/** A person waits for the answer. */
const answerMinutesMax = 15;

function lateAnswer(cause: unknown): PlanwaveClientError {
  const message = `There was no answer within ${answerMinutesMax} minutes. Try: ${commandText('doctor')}`;
  return new PlanwaveClientError('internal', message, { cause });
}

/** Codes of the failures of a consultation, by type; of all others, `internal`. */
const codesOfConsultation: Readonly<Record<string, ClientErrorCode | undefined>> = {
  UnknownRun: 'not_found',
  InvalidInput: 'bad_input',
};

/**
 * Has an agent of a run's design answer a question. Works at any time, also after the run has ended, and changes nothing.
 *
 * @throws PlanwaveClientError `not_found` when there is no such run; `bad_input` when it has no design, or when workers have other stores than the run; `internal` without an answer.
 */
export async function consult(
  context: ClientContext,
  given: ConsultationInput,
): Promise<ConsultationResult> {
  const { run_id, role } = given;
  const { store = null, load = null } = (await ifFound(describeRun(context, run_id))) ?? {};
  const input = context.redact({ ...given, ...(store !== null && { store }) });
  const workflowId = consultationWorkflowId(run_id, Date.now().toString(36));
  const handle = await callServer(context, run_id, () =>
    context.workflows.start(workflowTypes.consultation, {
      workflowId,
      taskQueue: context.taskQueue,
      args: [input],
      workflowExecutionTimeout: `${answerMinutesMax} minutes`,
      // Its calls are paid by the tenant of the run.
      ...toPriority(load),
      staticSummary: `question to the ${role} of ${run_id}`,
    }),
  );
  try {
    const result: ConsultationResult = await handle.result();
    return result;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure)) throw lateAnswer(error);
    const code = codesOfConsultation[cause.type ?? ''] ?? 'internal';
    throw new PlanwaveClientError(code, cause.message, { cause: error });
  }
}

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
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `evaluation ${input.name}`,
        // A client without keys sees in it whether the evaluation is encrypted.
        memo: { [memoKeys.goal]: input.name },
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
