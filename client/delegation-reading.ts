import { queryNames, workflowTypes } from '../contracts/names.ts';
import type { Usage } from '../contracts/usage.ts';
import type {
  DelegationStatusView,
  StatusView,
  TeamView,
  TriadPhaseView,
} from '../contracts/views.ts';
import type { ClientContext } from './client-context.ts';
import { readHeartbeat } from './read-heartbeat.ts';
import { callServer } from './server-calls.ts';

/** What a delegation spends and does at this moment. */
export interface DelegationReading {
  /** Null while no worker answers, or when the workflow does not tell. */
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

/** Shown beside other things that are ready sooner, so nobody waits long for it. */
const statusTimeoutMs = 1_500;

export async function readDelegation(
  context: ClientContext,
  workflowId: string,
): Promise<DelegationReading> {
  const [status, { activities, phaseIds }] = await Promise.all([
    readStatus(context, workflowId),
    readPending(context, workflowId),
  ]);
  const usage = status.usage ?? null;
  const triad = status.triad ?? null;
  const team = status.team ?? null;
  // Who is at work in a triad, its phase knows. The phases of a team's tasks are further below.
  const ownId = phaseIds.find((id) => !id.slice(workflowId.length + 1).includes('/'));
  const [view, inPhases] = await Promise.all([
    ownId === undefined ? null : query<TriadPhaseView>(context, ownId),
    Promise.all(phaseIds.map((id) => readPending(context, id))),
  ]);
  const below = inPhases.flatMap((phase) => phase.activities);
  return { usage, triad: view ?? triad, team, activities: [...activities, ...below] };
}

/** The topmost workflow tells more than the delegation that it is. */
type StatusAnswer = Partial<DelegationStatusView> & Pick<StatusView, 'delegation'>;

async function readStatus(
  context: ClientContext,
  workflowId: string,
): Promise<Partial<DelegationStatusView>> {
  const status = await query<StatusAnswer>(context, workflowId);
  return status?.delegation ?? status ?? {};
}

/** The answer to the query `status`; null without one. */
async function query<T>(context: ClientContext, workflowId: string): Promise<T | null> {
  try {
    return await context.connection.withDeadline(Date.now() + statusTimeoutMs, () =>
      context.workflows.getHandle(workflowId).query<T | null>(queryNames.status),
    );
  } catch {
    return null;
  }
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
