import type { DelegationStatusView, TaskView, TeamView } from '../../../../contracts/views.ts';
import type { LoneOutcome } from '../../../../contracts/delegation-run.ts';
import type { RunEnd } from '../../../../client/read-view.ts';
import type { CallReading, TeamLook } from '../../../../client/read-work.ts';
import { listing, noUsage } from './samples.ts';

export function task(name: string, fields: Partial<TaskView> = {}): TaskView {
  return {
    delegation_id: `task.${name}`,
    member_id: 'researcher',
    executor_id: 'agent:researcher',
    title: `Title of ${name}`,
    state: 'running',
    reason: '',
    attempts: 1,
    turns: 1,
    usage: noUsage,
    executor: { kind: 'agent' },
    ...fields,
  };
}

export function team(
  leader: Partial<TeamView['leader']>,
  tasks: readonly TaskView[] = [],
  fields: Partial<TeamView> = {},
): TeamView {
  return {
    team_id: null,
    leader: { agent_id: 'leader', state: 'thinking', turns: 1, usage: noUsage, ...leader },
    tasks,
    refused: [],
    refused_total: 0,
    max_delegations: 10,
    worked_seconds: 1,
    timeout: 300,
    notes: [],
    ...fields,
  };
}

export function look(view: TeamView | null, fields: Partial<TeamLook> = {}): TeamLook {
  const work: DelegationStatusView = {
    delegation_id: 'task',
    agent_id: 'leader',
    title: 'Bake',
    state: 'running',
    turn: 1,
    waiting_for: '',
    usage: noUsage,
    executor: { kind: 'team', team_id: view?.team_id ?? null, view },
  };
  return {
    run: listing(),
    work: view === null ? null : work,
    note: null,
    calls: [],
    questions: [],
    ...fields,
  };
}

export function closed(view: TeamView | null): TeamLook {
  return look(view, { run: listing({ execution: 'completed', phase: 'completed' }) });
}

/** A call that has written `text`, of which only the last `tailMax` characters are in its heartbeat. */
export function writing(of: string, call: string, text: string, tailMax = Infinity): CallReading {
  const tail = text.slice(Math.max(0, text.length - tailMax));
  const agent_id = of === 'task' ? 'leader' : 'researcher';
  return { call, delegation_id: of, agent_id, text: tail, text_chars: text.length };
}

export function endOfTeam(fields: Partial<LoneOutcome> = {}): RunEnd {
  const usage = { ...noUsage, calls: 2 };
  const outcome: LoneOutcome = {
    delegation_id: 'task',
    agent_id: 'leader',
    title: 'Bake',
    status: 'completed',
    reason: '',
    criteria_met: ['c1'],
    criteria_unmet: [],
    produces: [],
    output_ref: 'a'.repeat(64),
    loaded_details: [],
    turns: 2,
    usage: { ...noUsage, calls: 3 },
    answer: '# Bread\n\nIt is baked.',
    result_path: 'bread/result.md',
    report_path: 'bread/report.md',
    executor: {
      kind: 'team',
      work: {
        team_id: null,
        leader: { agent_id: 'leader', turns: 2, usage },
        members: [
          {
            member_id: 'researcher',
            executor_id: 'agent:researcher',
            delegations: 1,
            usage: { ...noUsage, calls: 1 },
          },
        ],
        tasks: { completed: 1, failed: 0, timed_out: 0, stopped: 0, skipped: 0 },
        partial: false,
        notes: ['member_timeout was over the timeout of the team.'],
        report_ref: 'b'.repeat(64),
      },
    },
    ...fields,
  };
  return { ended: 'part', outcome };
}
