import type { WorkflowExecutionDescription } from '@temporalio/client';
import { queryNames, workflowTypes } from '../../contracts/names.ts';
import type { Question } from '../../contracts/question.ts';
import type { DelegationStatusView, QuestionsView, StatusView } from '../../contracts/views.ts';
import type { ClientContext } from '../server-calls.ts';
import { PlanwaveClientError } from '../client-error.ts';
import { readHeartbeat } from '../read-heartbeat.ts';
import { readView } from '../read-view.ts';
import { toRunListing } from '../run-listing.ts';
import type { RunListing } from '../run-listing.ts';
import { callServer } from '../server-calls.ts';

/** A team at one moment. */
export interface TeamLook {
  readonly run: RunListing;
  /** Null while no worker answers, or when there is nothing to tell yet. */
  readonly work: DelegationStatusView | null;
  /** Why no worker answers; null when one did. */
  readonly note: string | null;
  /** Model calls in flight that have written something. */
  readonly calls: readonly CallReading[];
  /** Those that are open. Null when they could not be read. */
  readonly questions: readonly Question[] | null;
}

/** A model call in flight, by its newest heartbeat. */
export interface CallReading {
  /** Of this attempt: what another one writes is another text. */
  readonly call: string;
  readonly delegation_id: string;
  readonly agent_id: string;
  /** The end of what it has written. */
  readonly text: string;
  /** All that it has written, in UTF-16 units. */
  readonly text_chars: number;
}

/**
 * Reads a team by queries and by the heartbeats of its calls: nothing of that is written to its history.
 *
 * Calls are read before the view, so that the view knows the task of each.
 *
 * @param workflowId of a `team`, or of a delegation that a team does.
 * @throws PlanwaveClientError
 */
export async function readTeam(context: ClientContext, workflowId: string): Promise<TeamLook> {
  const top = await readCalls(context, workflowId);
  const below = await Promise.all(top.phaseIds.map((id) => readPhaseCalls(context, id)));
  const run = toRunListing(top.described);
  const calls = [...top.calls, ...below.flat()];
  const reading = await readView<StatusView | DelegationStatusView>(
    context,
    workflowId,
    queryNames.status,
  );
  if (!reading.live) return { run, work: null, note: reading.note, calls, questions: null };
  const status = reading.view;
  const work = 'delegation_id' in status ? status : (status.delegation ?? null);
  const isAsking = 'open_questions' in status && status.open_questions > 0;
  const questions = isAsking ? await readQuestions(context, workflowId) : [];
  return { run, work, note: null, calls, questions };
}

async function readQuestions(
  context: ClientContext,
  workflowId: string,
): Promise<readonly Question[] | null> {
  const reading = await readView<QuestionsView>(context, workflowId, queryNames.questions);
  return reading.live ? reading.view.open : null;
}

interface Calls {
  readonly described: WorkflowExecutionDescription;
  readonly calls: readonly CallReading[];
  /** Workflow ids of the phases of its triads at work. */
  readonly phaseIds: readonly string[];
}

function readCalls(context: ClientContext, workflowId: string): Promise<Calls> {
  return callServer(context, workflowId, async () => {
    const described = await context.workflows.getHandle(workflowId).describe();
    const { pendingActivities, pendingChildren } = described.raw;
    const calls = await Promise.all(
      (pendingActivities ?? []).map(async ({ activityId, attempt, heartbeatDetails }) => {
        const payloads = heartbeatDetails?.payloads ?? [];
        const beat = await readHeartbeat(context.dataConverter, payloads);
        return readCall(`${described.runId}/${activityId ?? ''}/${attempt ?? 1}`, beat);
      }),
    );
    const phaseIds = (pendingChildren ?? [])
      .filter(({ workflowTypeName }) => workflowTypeName === workflowTypes.triadPhase)
      .map(({ workflowId: id }) => id ?? '');
    return { described, calls: calls.filter((call) => call !== null), phaseIds };
  });
}

/** A phase may end between two looks, and begin a moment after its parent says so. */
async function readPhaseCalls(
  context: ClientContext,
  workflowId: string,
): Promise<readonly CallReading[]> {
  try {
    return (await readCalls(context, workflowId)).calls;
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'not_found') return [];
    throw error;
  }
}

/** Null for an activity that is no model call, or one that has written nothing. */
function readCall(
  call: string,
  beat: Readonly<Record<string, unknown>> | null,
): CallReading | null {
  const { delegation_id, agent_id, text, text_chars } = beat ?? {};
  if (typeof delegation_id !== 'string' || typeof text !== 'string') return null;
  return {
    call,
    delegation_id,
    agent_id: typeof agent_id === 'string' ? agent_id : '',
    text,
    text_chars: typeof text_chars === 'number' ? text_chars : text.length,
  };
}
