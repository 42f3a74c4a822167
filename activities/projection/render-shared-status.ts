import type { Delegation, Executor } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import type { ExecutorOutcome, TeamOutcome } from '../../contracts/team-run.ts';
import type { TeamPlan } from '../../contracts/team.ts';
import type { RunPhase } from '../../contracts/views.ts';
import { statusAtEnd } from '../../core/notes/agent-status.ts';
import type { AgentStatusValue } from '../../contracts/note.ts';
import { statusOfVerifier } from '../../core/design/render-plan.ts';
import { teamName } from '../../core/executor.ts';
import { textOf, type RecordTexts } from './record-texts.ts';
import type { TriadPlan } from '../../contracts/triad.ts';
import { askersOf } from '../../core/questions/check-asked-questions.ts';

interface AgentEntry {
  readonly agent_id: string;
  /** Reason why each of its changes needs an approval. Absent when they do not. */
  readonly rule_of_two?: string;
  /** Absent unless a triad does it. */
  readonly triad?: Pick<TriadPlan, 'type' | 'reason' | 'members'>;
  /** Present only for a team. */
  readonly team?: TeamEntry;
  readonly status: AgentStatusValue;
  readonly dependencies: readonly string[];
  /** Unix epoch seconds; null before it started. */
  readonly last_update: number | null;
  /** Absent for an agent that keeps no notes, like the next one. */
  readonly completion_drive_notes_count?: number;
  readonly unresolved_notes?: number;
}

interface TeamEntry {
  /** Null when the team has no name. */
  readonly team_id: string | null;
  /** Before the end, the members that the plan names: none for a team that has a name. */
  readonly members: readonly {
    readonly member_id: string;
    /** Number of tasks and their cost. Absent before the end. */
    readonly tasks?: number;
    readonly cost_micro_usd?: number;
  }[];
  /** Tasks by how they ended, and whether the result is incomplete. Absent before the end. */
  readonly tasks?: TeamOutcome['tasks'];
  readonly partial?: boolean;
}

/**
 * Renders `shared_status.json` in the shape of seed 003: the delegations of the newest wave one by one, earlier waves in
 * numbers. The keys of `agents` are delegation_ids, because one agent can have several delegations; `verification` has the
 * registered agents that verify some of them, and is empty where nobody verifies. All times are Unix epoch seconds. Fields
 * that tell of notes are there only for agents that keep some: a count of 0 or an open gate would claim that a check had
 * been made.
 */
export function renderSharedStatus(record: RunRecord, texts: RecordTexts): string {
  const [wave] = record.waves.slice(-1);
  const plan_ref = wave?.plan_ref ?? null;
  const delegations = plan_ref === null ? [] : textOf(texts.plans, plan_ref).delegations;
  const agents =
    wave === undefined
      ? []
      : delegations.map(
          (delegation) =>
            [delegation.delegation_id, describeDelegation(record, wave, delegation)] as const,
        );
  return renderJson({
    task_id: record.run_id,
    status: describeState(record),
    session_start: record.started_at,
    ...(record.waves.length > 1 && {
      earlier_waves: record.waves.slice(0, -1).map(countOutcomes),
    }),
    agents: Object.fromEntries(agents),
    verification: describeVerifiers(delegations, new Map(agents)),
    ...describeGate(agents.map(([, entry]) => entry)),
  });
}

function describeVerifiers(
  delegations: readonly Delegation[],
  agents: ReadonlyMap<string, AgentEntry>,
): object {
  const ordered = delegations.flatMap(({ delegation_id, verification }) => {
    const entry = agents.get(delegation_id);
    return verification === undefined || entry === undefined
      ? []
      : [{ delegation_id, verified_by: verification.verified_by, status: entry.status }];
  });
  const verifiers = [...new Set(ordered.map(({ verified_by }) => verified_by))];
  const entries = verifiers.map((verifier) => {
    const judged = ordered.filter(({ verified_by }) => verified_by === verifier);
    const assigned_agents = judged.map(({ delegation_id }) => delegation_id);
    return [verifier, { status: statusOfVerifier(judged), assigned_agents }];
  });
  return Object.fromEntries(entries);
}

function describeGate(agents: readonly AgentEntry[]): object {
  const counts = agents.flatMap(({ unresolved_notes }) => unresolved_notes ?? []);
  if (counts.length === 0) return {};
  return {
    overall_completion_drive_gate: counts.some((count) => count > 0) ? 'blocked' : 'open',
  };
}

function countOutcomes({ wave, status, outcomes }: StoredWave): object {
  const count = (ended: DelegationOutcome['status']): number =>
    outcomes.filter((one) => one.status === ended).length;
  return {
    wave,
    status,
    completed: count('completed'),
    failed: count('failed'),
    stopped: count('stopped'),
    skipped: count('skipped'),
  };
}

function describeDelegation(
  record: RunRecord,
  wave: StoredWave,
  delegation: Delegation,
): AgentEntry {
  const { delegation_id } = delegation;
  const outcome = wave.outcomes.find((one) => one.delegation_id === delegation_id);
  const guarded = wave.guarded?.find((one) => one.delegation_id === delegation_id);
  return {
    agent_id: delegation.agent_id,
    ...(guarded !== undefined && { rule_of_two: guarded.rule_of_two }),
    ...describeExecutor(delegation.executor, outcome?.executor),
    dependencies: delegation.depends_on,
    ...findState(record, wave, { delegation, outcome }),
    ...countNotes(record, delegation_id),
  };
}

function countNotes(
  { sessions = [] }: RunRecord,
  id: string,
): Pick<AgentEntry, 'completion_drive_notes_count' | 'unresolved_notes'> {
  const session = sessions.find(({ delegation_id }) => delegation_id === id);
  if (session === undefined) return {};
  return { completion_drive_notes_count: session.count, unresolved_notes: session.unresolved };
}

/** Describes the executor besides its agent. A triad's sections are in the plan. */
function describeExecutor(
  planned: Executor,
  done: ExecutorOutcome | undefined,
): Pick<AgentEntry, 'triad' | 'team'> {
  switch (planned.kind) {
    case 'agent':
      return {};
    case 'triad': {
      const { type, reason, members } = planned;
      return { triad: { type, reason, members } };
    }
    case 'team':
      return { team: describeTeam(planned, done?.kind === 'team' ? done.work : null) };
  }
}

function describeTeam(plan: TeamPlan, done: TeamOutcome | null): TeamEntry {
  if (done === null) {
    const members = (plan.members ?? []).map(({ id }) => ({ member_id: id }));
    return { team_id: teamName(plan), members };
  }
  const { team_id, members, tasks, partial } = done;
  return {
    team_id,
    members: members.map(({ member_id, delegations, usage }) => ({
      member_id,
      tasks: delegations,
      cost_micro_usd: usage.cost_micro_usd,
    })),
    tasks,
    partial,
  };
}

function findState(
  record: RunRecord,
  wave: StoredWave,
  {
    delegation,
    outcome,
  }: { readonly delegation: Delegation; readonly outcome: DelegationOutcome | undefined },
): Pick<AgentEntry, 'status' | 'last_update'> {
  const id = delegation.delegation_id;
  if (outcome !== undefined)
    return {
      status: statusAtEnd({
        status: outcome.status,
        isVerified: outcome.verification?.status === 'verified',
        isOver: wave.status === 'decided',
      }),
      last_update: wave.done_at,
    };

  const asked = record.open_questions.findLast((question) =>
    askersOf(question).some((asker) => asker.delegation_id === id),
  );
  if (asked !== undefined) return { status: 'blocked', last_update: asked.asked_at };

  const session = record.sessions?.find(({ delegation_id }) => delegation_id === id);
  if (session !== undefined) return { status: session.status, last_update: session.at };

  const answered = record.answered_questions.findLast((one) => one.delegation_id === id);
  // A delegation without dependencies starts with its wave; one that was answered must have been running.
  const started =
    answered?.answered_at ?? (delegation.depends_on.length === 0 ? wave.planned_at : null);
  if (started === null) return { status: 'pending', last_update: null };
  return { status: record.status === null ? 'working' : 'blocked', last_update: started };
}

/** Returns the status of the whole run. One that waits for the user while nothing works is blocked. */
export function describeState({
  status,
  phase,
  open_questions,
  waves,
}: Pick<RunRecord, 'status' | 'phase' | 'open_questions' | 'waves'>): string {
  const isAtWork = waves.at(-1)?.status === 'running';
  const waits = status === null && open_questions.length > 0 && !isAtWork;
  return waits ? 'blocked' : describePhase(status ?? phase);
}

function describePhase(phase: RunPhase): string {
  switch (phase) {
    case 'intake':
    case 'working':
    case 'ending':
      return 'in_progress';
    case 'waiting_for_user':
    case 'paused':
    case 'parked':
      return 'blocked';
    case 'completed':
    case 'finished_unmet':
    case 'stopped':
    case 'abandoned':
    case 'failed':
      return phase;
  }
}

/** Renders JSON for people and scripts: indented, one line break at its end. */
export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
