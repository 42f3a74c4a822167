import type {
  TaskRecord,
  TaskStatus,
  TeamOutcome,
  TeamReport,
  TeamSeat,
  TeamSetup,
} from '../../contracts/team-run.ts';
import type { TaskView, TeamView } from '../../contracts/views.ts';
import { defaultTeam } from '../../core/limits.ts';
import { someRef, usageOf } from './factories.ts';
import { boundTeam } from '../../core/team/team-state.ts';

/** Creates a member: the agent of its name, if nothing else is given. */
export function teamSeat(member_id: string, over: Partial<TeamSeat> = {}): TeamSeat {
  return {
    member_id,
    executor_id: `agent:${member_id}`,
    executor: { kind: 'agent' },
    agent_id: member_id,
    capabilities: [],
    priority: 0,
    enabled: true,
    ...over,
  };
}

/** Creates a team of a researcher and a writer, with every default. */
export function teamSetup(over: Partial<TeamSetup> = {}): TeamSetup {
  return {
    team_id: null,
    leader: 'leader',
    model: null,
    members: [teamSeat('researcher'), teamSeat('writer')],
    allow_parallel: false,
    ...defaultTeam,
    timeout: 300,
    member_timeout: 60,
    input_middlewares: [],
    output_middlewares: [],
    guardrails: { input: [], output: [] },
    thread_id: null,
    user_id: null,
    notes: [],
    ...over,
  };
}

/** Creates a task of the team that does `design`, as the researcher completed it. @param name given by the leader. */
export function taskRecord(name: string, over: Partial<TaskRecord> = {}): TaskRecord {
  return {
    delegation_id: `design.${name}`,
    member_id: 'researcher',
    title: `Task ${name}`,
    plan_ref: someRef,
    inputs: [],
    status: 'completed',
    reason: '',
    attempts: 1,
    output_ref: someRef,
    partial_ref: null,
    turns: 2,
    usage: usageOf(2),
    worked_ms: 12_000,
    executor: { kind: 'agent' },
    ...over,
  };
}

/** Creates a task that ends without a result. */
export function failedTask(
  name: string,
  status: Exclude<TaskStatus, 'completed'>,
  over: Partial<TaskRecord> = {},
): TaskRecord {
  return taskRecord(name, { status, reason: `It ${status}.`, output_ref: null, ...over });
}

/** Creates the report of a team that has completed its work, in one task. */
export function teamReport(over: Partial<TeamReport> = {}): TeamReport {
  return {
    version: 1,
    setup: teamSetup(),
    plan_ref: someRef,
    status: 'done',
    reason: '',
    tasks: [taskRecord('d1')],
    refused: [],
    leader: { turns: 3, usage: usageOf(3) },
    notes: [],
    output_ref: someRef,
    ...over,
  };
}

/** Creates the part of a team's report that travels. */
export function teamOutcome(report: TeamReport = teamReport(), reportRef = someRef): TeamOutcome {
  return boundTeam(report, reportRef);
}

/** Creates a running task of the team that does `design`. */
export function taskView(name: string, over: Partial<TaskView> = {}): TaskView {
  return {
    delegation_id: `design.${name}`,
    member_id: 'researcher',
    executor_id: 'agent:researcher',
    title: `Task ${name}`,
    state: 'running',
    reason: '',
    attempts: 1,
    turns: 1,
    usage: usageOf(1),
    executor: { kind: 'agent' },
    ...over,
  };
}

/** Creates a team whose leader waits for its only task. */
export function teamView(over: Partial<TeamView> = {}): TeamView {
  return {
    team_id: null,
    leader: { agent_id: 'leader', state: 'waiting_for_members', turns: 1, usage: usageOf(1) },
    tasks: [taskView('d1')],
    refused: [],
    refused_total: 0,
    max_delegations: defaultTeam.max_delegations,
    worked_seconds: 42,
    timeout: 300,
    notes: [],
    ...over,
  };
}
