import type { Delegation } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import type { TeamPlan } from '../../contracts/team.ts';
import type { TriadPlan } from '../../contracts/triad.ts';
import type { RunPhase } from '../../contracts/views.ts';
import { askersOf } from '../../core/questions/join-question.ts';
import { teamName } from '../../core/team/team-name.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';

/** The status values of seed 003, and its `failed` for an agent that used up its attempts. */
type AgentStatusValue =
  | 'pending'
  | 'working'
  | 'ready_for_verification'
  | 'blocked'
  | 'failed'
  | 'session_complete';

interface AgentEntry {
  readonly agent_id: string;
  /** Absent unless a triad does it. */
  readonly triad?: Pick<TriadPlan, 'type' | 'reason' | 'members'>;
  /** Absent unless a team does it. */
  readonly team?: TeamEntry;
  readonly status: AgentStatusValue;
  readonly dependencies: readonly string[];
  /** Unix epoch seconds; null before it started. */
  readonly last_update: number | null;
}

interface TeamEntry {
  /** Null: it has no name. */
  readonly team_id: string | null;
  /** Before it is done, those that the plan names: none of a team that has a name. */
  readonly members: readonly {
    readonly member_id: string;
    /** Tasks that it was given, and what it cost. Absent before the team is done. */
    readonly tasks?: number;
    readonly cost_micro_usd?: number;
  }[];
  /** Tasks by how they ended, and whether the team holds less than was asked for. Absent before it is done. */
  readonly tasks?: TeamOutcome['tasks'];
  readonly partial?: boolean;
}

/**
 * `shared_status.json` in the shape of seed 003. The keys of `agents` are delegation_ids, because one agent can have
 * several delegations. All times are Unix epoch seconds. The seed's completion drive and verifiers do not exist yet, so the
 * fields that tell of them are absent: a count of 0 or an open gate would claim that a check had been made.
 */
export function renderSharedStatus(record: RunRecord, texts: RecordTexts): string {
  const agents = record.waves.flatMap((wave) =>
    delegationsOf(wave, texts).map(
      (delegation) =>
        [delegation.delegation_id, describeDelegation(record, wave, delegation)] as const,
    ),
  );
  return renderJson({
    task_id: record.run_id,
    status: describePhase(record.phase),
    session_start: record.started_at,
    agents: Object.fromEntries(agents),
  });
}

function delegationsOf(wave: StoredWave, texts: RecordTexts): readonly Delegation[] {
  return wave.plan_ref === null ? [] : textOf(texts.plans, wave.plan_ref).delegations;
}

function describeDelegation(
  record: RunRecord,
  wave: StoredWave,
  delegation: Delegation,
): AgentEntry {
  const outcome = wave.outcomes.find((one) => one.delegation_id === delegation.delegation_id);
  return {
    agent_id: delegation.agent_id,
    ...(delegation.triad !== undefined && { triad: describeTriad(delegation.triad) }),
    ...(delegation.team !== undefined && { team: describeTeam(delegation.team, outcome?.team) }),
    dependencies: delegation.depends_on,
    ...findState(record, wave, { delegation, outcome }),
  };
}

/** Describes members and reason; the work itself is in the plan. */
function describeTriad({ type, reason, members }: TriadPlan): NonNullable<AgentEntry['triad']> {
  return { type, reason, members };
}

function describeTeam(plan: TeamPlan, done: TeamOutcome | undefined): TeamEntry {
  if (done === undefined) {
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
    return { status: describeOutcome(wave, outcome), last_update: wave.done_at };

  const asked = record.open_questions.findLast((question) =>
    askersOf(question).some((asker) => asker.delegation_id === id),
  );
  if (asked !== undefined) return { status: 'blocked', last_update: asked.asked_at };

  const answered = record.answered_questions.findLast((one) => one.delegation_id === id);
  // What depends on nothing starts with its wave; what was answered must have been at work.
  const started =
    answered?.answered_at ?? (delegation.depends_on.length === 0 ? wave.planned_at : null);
  if (started === null) return { status: 'pending', last_update: null };
  return { status: record.status === null ? 'working' : 'blocked', last_update: started };
}

function describeOutcome(wave: StoredWave, outcome: DelegationOutcome): AgentStatusValue {
  switch (outcome.status) {
    case 'completed':
      return wave.status === 'decided' ? 'session_complete' : 'ready_for_verification';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'blocked';
    case 'skipped':
      return 'pending';
  }
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

/** JSON for people and scripts: indented, one line break at its end. */
export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
