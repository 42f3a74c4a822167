import { isRecord } from '../core/json.ts';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { designStageNames, workflowTypes, queryNames } from '../contracts/names.ts';
import type { Usage } from '../contracts/usage.ts';
import type {
  DelegationStatusView,
  PhaseStatusView,
  StatusView,
  TeamView,
  TriadPhaseView,
  QuestionsView,
  VerificationView,
} from '../contracts/views.ts';
import { askStatus, readView, type WorkAddress } from './read-view.ts';
import { riskWorkflowId, taskOwner, workPlace } from '../core/ids.ts';
import { type ClientContext, callServer, decodePayload, messageOfFailure } from './server-calls.ts';
import { addUsage } from '../core/usage/add-usage.ts';
import type { Question } from '../contracts/question.ts';
import { ifFound } from './client-error.ts';
import { toRunListing, type RunListing } from './run-listing.ts';
import { teamViewOf, triadViewOf } from '../core/executor.ts';

/** Usage and activities of a delegation at one moment. */
export interface DelegationReading {
  /** With its phases at work. Null while no worker answers, or when the workflow does not tell. */
  readonly usage: Usage | null;
  /** State of its triad. Null unless a triad does it, and where `usage` is. */
  readonly triad: TriadPhaseView | null;
  /** State of its team. Null unless a team does it, and where `usage` is. */
  readonly team: TeamView | null;
  /** Verification of its output. Null where none is demanded, and where `usage` is. */
  readonly verification: VerificationView | null;
  /** Its own, and those of every phase below it. */
  readonly activities: readonly ActivityReading[];
}

export interface ActivityReading {
  /** Unique for an activity, over all of its attempts. */
  readonly id: string;
  readonly activity_type: string;
  /** From 1. */
  readonly attempt: number;
  /** Reason why the attempt before failed, or null. */
  readonly last_failure: string | null;
  /** Details of the newest heartbeat, as the activity wrote them, or null. */
  readonly heartbeat: Readonly<Record<string, unknown>> | null;
}

export async function readDelegation(
  context: ClientContext,
  address: WorkAddress,
): Promise<DelegationReading> {
  const [status, { activities, phaseIds, place }] = await Promise.all([
    readStatus(context, address),
    readPending(context, address.workflow_id, address.delegation_id),
  ]);
  const phasesAtWork = status?.phases_at_work ?? [];
  const [phases, inPhases] = await Promise.all([
    Promise.all(phasesAtWork.map((id) => readPhase(context, id))),
    Promise.all(phaseIds.map((id) => readPending(context, id))),
  ]);
  // Who is at work in a triad, its phase knows. The phases of a team's tasks are further below.
  const own = phases.find(({ id }) => !id.slice(place.length + 1).includes('/'));
  const below = inPhases.flatMap((phase) => phase.activities);
  return {
    usage: addPhases(status, phases),
    triad: own?.view ?? triadViewOf(status?.executor),
    team: teamViewOf(status?.executor),
    verification: status?.verification ?? null,
    activities: [...activities, ...below],
  };
}

/** Null while one of them was not told: less than before would be shown. */
function addPhases(
  status: DelegationStatusView | null,
  phases: readonly PhaseReading[],
): Usage | null {
  if (status === null || phases.some(({ isTold }) => !isTold)) return null;
  return addUsage(status.usage, ...phases.flatMap(({ view }) => (view === null ? [] : view.usage)));
}

/** The topmost workflow tells more than the delegation that it is. */
async function readStatus(
  context: ClientContext,
  address: WorkAddress,
): Promise<DelegationStatusView | null> {
  const answer = await askStatus<StatusView | DelegationStatusView>(context, address);
  if (!answer.isTold || answer.view === null) return null;
  return 'delegation_id' in answer.view ? answer.view : (answer.view.delegation ?? null);
}

interface PhaseReading {
  readonly id: string;
  readonly isTold: boolean;
  readonly view: PhaseStatusView | null;
}

async function readPhase(context: ClientContext, id: string): Promise<PhaseReading> {
  const answer = await askStatus<PhaseStatusView>(context, { workflow_id: id });
  return { id, isTold: answer.isTold, view: answer.isTold ? answer.view : null };
}

/** Activities and phases at work of a workflow, or of a delegation in it, from the server alone. */
interface Pending {
  readonly described: WorkflowExecutionDescription;
  readonly activities: readonly ActivityReading[];
  /** Workflow ids of the phases at work below it. */
  readonly phaseIds: readonly string[];
  /** Path above the phases of its own triad. */
  readonly place: string;
}

/** @param delegationId If undefined, everything is the workflow's own. */
function readPending(
  context: ClientContext,
  workflowId: string,
  delegationId?: string,
): Promise<Pending> {
  return callServer(context, workflowId, async () => {
    const described = await context.lists.getHandle(workflowId).describe();
    const { pendingActivities, pendingChildren } = described.raw;
    const place = workPlace(workflowId, described.type, delegationId);
    const phaseIds = (pendingChildren ?? [])
      .filter(({ workflowTypeName }) => workflowTypeName === workflowTypes.triadPhase)
      .flatMap(({ workflowId: id }) => (id?.startsWith(`${place}/`) === true ? [id] : []));
    const activities = await Promise.all(
      (pendingActivities ?? []).map(async (pending) => ({
        id: `${described.runId}/${pending.activityId ?? ''}`,
        activity_type: pending.activityType?.name ?? '',
        attempt: pending.attempt ?? 1,
        last_failure: await messageOfFailure(context.codec, pending.lastFailure ?? {}),
        heartbeat: await readHeartbeat(context.codec, pending.heartbeatDetails?.payloads ?? []),
      })),
    );
    // A wave makes the calls of all delegations in it; which one's a call is, its heartbeat tells.
    const own =
      place === workflowId
        ? activities
        : activities.filter(({ heartbeat }) => ownerOf(heartbeat) === delegationId);
    return { described, activities: own, phaseIds, place };
  });
}

function ownerOf(heartbeat: ActivityReading['heartbeat']): string | null {
  const id = heartbeat?.['delegation_id'];
  return typeof id === 'string' ? taskOwner(id) : null;
}

/** The details of a heartbeat; null when there are none, or when something else wrote them. */
async function readHeartbeat(
  codec: PayloadCodec,
  [first]: readonly Payload[],
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const value = first === undefined ? null : await decodePayload(codec, first);
    return isRecord(value) ? value : null;
  } catch {
    // Nothing to show, and no reason to end a watch.
    return null;
  }
}

/**
 * Reads the model calls of the stages at work of a design, or of a judgement of its work. A call is seen from its first
 * heartbeat on.
 *
 * @throws PlanwaveClientError
 */
export async function readStageCalls(
  context: ClientContext,
  { run_id, design, stages_at_work = [] }: StatusView,
): Promise<readonly ActivityReading[]> {
  if (stages_at_work.length === 0) return [];
  const id = design?.workflow_id;
  const ids = new Set([run_id, ...(id === undefined ? [] : [id, riskWorkflowId(id)])]);
  const pending = await Promise.all([...ids].map((one) => ifFound(readPending(context, one))));
  return pending
    .flatMap((one) => one?.activities ?? [])
    .filter(({ heartbeat }) => designStageNames.some((stage) => stage === heartbeat?.['stage']));
}

export interface TeamLook {
  readonly run: RunListing;
  /** Null while no worker answers, or when there is nothing to tell yet. */
  readonly work: DelegationStatusView | null;
  /** Reason why no worker answers; null when one did. */
  readonly note: string | null;
  /** Model calls in flight that have written something. */
  readonly calls: readonly CallReading[];
  /** Those that are open. Null when they could not be read. */
  readonly questions: readonly Question[] | null;
}

/** A model call in flight, by its newest heartbeat. */
export interface CallReading {
  /** Id of the call's attempt: another attempt writes another text. */
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
 * @param id Workflow id of a `team`, or the path of a delegation that a team does.
 * @throws PlanwaveClientError
 */
export async function readTeam(context: ClientContext, id: string): Promise<TeamLook> {
  const top = await ifFound(readPending(context, id));
  if (top === null) return readTeamInside(context, id);
  const look = await readLook(context, top);
  const reading = await readView<StatusView | DelegationStatusView>(context, id, queryNames.status);
  if (!reading.live) return { ...look, work: null, note: reading.note, questions: null };
  const status = reading.view;
  const work = 'delegation_id' in status ? status : (status.delegation ?? null);
  const isAsking = 'open_questions' in status && status.open_questions > 0;
  const questions = isAsking ? await readQuestions(context, id) : [];
  return { ...look, work, note: null, questions };
}

/** Reads a team that works in its wave's workflow, which has no questions of its own. */
async function readTeamInside(context: ClientContext, path: string): Promise<TeamLook> {
  const { address } = (await findWork(context, path)) ?? {};
  const { workflow_id = path, delegation_id } = address ?? {};
  const look = await readLook(context, await readPending(context, workflow_id, delegation_id));
  const work = address === undefined ? null : await readStatus(context, address);
  return { ...look, work, note: null, questions: [] };
}

async function readLook(
  context: ClientContext,
  top: Pending,
): Promise<Pick<TeamLook, 'run' | 'calls'>> {
  const below = await Promise.all(top.phaseIds.map((id) => readPhaseCalls(context, id)));
  return { run: toRunListing(top.described), calls: [...listCalls(top), ...below.flat()] };
}

async function readQuestions(
  context: ClientContext,
  workflowId: string,
): Promise<readonly Question[] | null> {
  const reading = await readView<QuestionsView>(context, workflowId, queryNames.questions);
  return reading.live ? reading.view.open : null;
}

/** A phase may end between two looks, and begin a moment after its parent says so. */
async function readPhaseCalls(
  context: ClientContext,
  workflowId: string,
): Promise<readonly CallReading[]> {
  const pending = await ifFound(readPending(context, workflowId));
  return pending === null ? [] : listCalls(pending);
}

function listCalls({ activities }: Pending): readonly CallReading[] {
  return activities.map(readCall).filter((call) => call !== null);
}

/** Null for an activity that is no model call, or one that has written nothing. */
function readCall({ id, attempt, heartbeat }: ActivityReading): CallReading | null {
  const { delegation_id, agent_id, text, text_chars } = heartbeat ?? {};
  if (typeof delegation_id !== 'string' || typeof text !== 'string') return null;
  return {
    call: `${id}/${attempt}`,
    delegation_id,
    agent_id: typeof agent_id === 'string' ? agent_id : '',
    text,
    text_chars: typeof text_chars === 'number' ? text_chars : text.length,
  };
}

/**
 * Finds a delegation below a wave by its path, `<wave>/<delegation_id>`, whether it has a workflow of its own or not.
 *
 * @returns null when no worker answers, or when there is no such delegation.
 */
export async function findWork(
  context: ClientContext,
  path: string,
): Promise<{ readonly address: WorkAddress; readonly status: DelegationStatusView } | null> {
  const end = path.lastIndexOf('/');
  const delegation_id = path.slice(end + 1);
  for (const workflow_id of [path, path.slice(0, Math.max(end, 0))]) {
    const address = { workflow_id, delegation_id };
    const answer =
      workflow_id === '' ? null : await askStatus<DelegationStatusView>(context, address);
    if (answer?.isTold !== true || answer.view?.delegation_id !== delegation_id) continue;
    return { address, status: answer.view };
  }
  return null;
}
