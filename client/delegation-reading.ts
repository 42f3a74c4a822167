import { workflowTypes } from '../contracts/names.ts';
import type { Usage } from '../contracts/usage.ts';
import type {
  DelegationStatusView,
  PhaseStatusView,
  StatusView,
  TeamView,
  TriadPhaseView,
} from '../contracts/views.ts';
import { askStatus } from './read-view.ts';
import type { ClientContext } from './server-calls.ts';
import { readHeartbeat } from './read-heartbeat.ts';
import { callServer } from './server-calls.ts';
import { addUsage } from '../core/usage/add-usage.ts';

/** What a delegation spends and does at this moment. */
export interface DelegationReading {
  /** With its phases at work. Null while no worker answers, or when the workflow does not tell. */
  readonly usage: Usage | null;
  /** Where its triad is. Null unless a triad does it, and where `usage` is. */
  readonly triad: TriadPhaseView | null;
  /** Where its team is. Null unless a team does it, and where `usage` is. */
  readonly team: TeamView | null;
  /** Its own, and those of every phase below it. */
  readonly activities: readonly ActivityReading[];
}

export interface ActivityReading {
  readonly activity_type: string;
  /** From 1. */
  readonly attempt: number;
  /** Why the attempt before failed, or null. */
  readonly last_failure: string | null;
  /** Details of the newest heartbeat, as the activity wrote them, or null. */
  readonly heartbeat: Readonly<Record<string, unknown>> | null;
}

export async function readDelegation(
  context: ClientContext,
  workflowId: string,
): Promise<DelegationReading> {
  const [status, { activities, phaseIds }] = await Promise.all([
    readStatus(context, workflowId),
    readPending(context, workflowId),
  ]);
  const phasesAtWork = status?.phases_at_work ?? [];
  const [phases, inPhases] = await Promise.all([
    Promise.all(phasesAtWork.map((id) => readPhase(context, id))),
    Promise.all(phaseIds.map((id) => readPending(context, id))),
  ]);
  // Who is at work in a triad, its phase knows. The phases of a team's tasks are further below.
  const own = phases.find(({ id }) => !id.slice(workflowId.length + 1).includes('/'));
  const below = inPhases.flatMap((phase) => phase.activities);
  return {
    usage: addPhases(status, phases),
    triad: own?.view ?? status?.triad ?? null,
    team: status?.team ?? null,
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
  workflowId: string,
): Promise<DelegationStatusView | null> {
  const answer = await askStatus<StatusView | DelegationStatusView>(context, workflowId);
  if (!answer.isTold || answer.view === null) return null;
  return 'delegation_id' in answer.view ? answer.view : (answer.view.delegation ?? null);
}

interface PhaseReading {
  readonly id: string;
  readonly isTold: boolean;
  readonly view: PhaseStatusView | null;
}

async function readPhase(context: ClientContext, id: string): Promise<PhaseReading> {
  const answer = await askStatus<PhaseStatusView>(context, id);
  return { id, isTold: answer.isTold, view: answer.isTold ? answer.view : null };
}

interface Pending {
  readonly activities: readonly ActivityReading[];
  /** Workflow ids of the phases at work below it. */
  readonly phaseIds: readonly string[];
}

function readPending(context: ClientContext, workflowId: string): Promise<Pending> {
  return callServer(context, workflowId, async () => {
    const { raw } = await context.workflows.getHandle(workflowId).describe();
    const phaseIds = (raw.pendingChildren ?? [])
      .filter(({ workflowTypeName }) => workflowTypeName === workflowTypes.triadPhase)
      .flatMap(({ workflowId: id }) => id ?? []);
    const activities = await Promise.all(
      (raw.pendingActivities ?? []).map(async (pending) => ({
        activity_type: pending.activityType?.name ?? '',
        attempt: pending.attempt ?? 1,
        last_failure: pending.lastFailure?.message ?? null,
        heartbeat: await readHeartbeat(
          context.dataConverter,
          pending.heartbeatDetails?.payloads ?? [],
        ),
      })),
    );
    return { activities, phaseIds };
  });
}
