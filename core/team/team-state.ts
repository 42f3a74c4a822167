/**
 * State of a team, and the part of it that is carried over continue-as-new.
 *
 * Invariants:
 *   KE1. All effects of the leader are kept: they number its next ones, so that no two calls have one id.
 *   KE2. At most `effectsMax` effects are kept, in their order; of the members' the newest.
 */
import type { Ref } from '../../contracts/ref.ts';
import type { TeamCall } from '../../contracts/state-call.ts';
import type {
  TeamLink,
  TeamSetup,
  TaskStatus,
  TeamOutcome,
  TeamReport,
} from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationStatusView, TaskView, TeamView } from '../../contracts/views.ts';
import { viewUnbegun } from '../executor.ts';
import { isEffectOf } from '../ids.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-evidence.ts';
import type { Entry, Job, Schedule } from '../schedule/schedule.ts';
import { openSchedule } from '../schedule/step-schedule.ts';
import { noUsage, addUsage } from '../usage/add-usage.ts';
import { cutText } from '../text/cut-text.ts';

/** A task that a leader created. Texts stay in the store. */
export interface TeamTask extends Job {
  /** The leader's name for it. */
  readonly name: string;
  readonly tool_use_id: string;
  readonly member_id: string;
  readonly executor_id: string;
  readonly title: string;
  readonly task_ref: Ref;
  readonly fingerprint: string;
  /** delegation_ids whose results it gets, if they have any. */
  readonly inputs: readonly string[];
  /** Those of `inputs` that the leader named; without their results it does not start. */
  readonly depends_on: readonly string[];
  readonly after: readonly string[];
}

/** Kinds of refusals of a leader's call, for counting. The leader reads the reason in words. */
export const refusalKinds = [
  /** The arguments do not fit the tool. */
  'arguments',
  /** No member takes it: unknown, disabled, or resting after failures. */
  'member',
  /** Its name belongs to another result. */
  'name',
  /** It names a result that does not exist. */
  'input',
  /** The same task was created before, here or in a team above. */
  'repeated',
  /** It and others of the reply need each other's results. */
  'cycle',
  'limit',
  /** It needs a call that was refused. */
  'needs',
] as const;

export type RefusalKind = (typeof refusalKinds)[number];

interface RefusedCall {
  readonly member_id: string;
  readonly reason: string;
}

/** State of a team. Small and of bounded size, because it is carried over continue-as-new. */
export interface TeamState {
  readonly setup: TeamSetup;
  readonly delegation_id: string;
  /** Teams above this one. */
  readonly chain: readonly TeamLink[];
  /** Inputs of its own delegation; tasks may get them too. */
  readonly upstream: readonly string[];
  /** Paused while the leader thinks: new tasks start once the plan that holds them is stored. */
  readonly tasks: Schedule<TeamTask>;
  /** The first `refusalsKeptMax`. */
  readonly refused: readonly RefusedCall[];
  readonly refused_total: number;
}

/** One call of the leader, unchanged. */
export interface GivenCall {
  readonly tool_use_id: string;
  readonly call: TeamCall;
}

export function openTeamState(
  setup: TeamSetup,
  from: Pick<TeamState, 'delegation_id' | 'chain' | 'upstream'>,
): TeamState {
  const { allow_parallel, max_parallel, member_timeout } = setup;
  const rules = {
    paused: true,
    max_parallel: allow_parallel ? max_parallel : 1,
    // A temporary fault is over when the time of one task is.
    first_rest_ms: member_timeout * 1_000,
  };
  const { schedule: tasks } = openSchedule<TeamTask>([], rules, 0);
  return { ...from, setup, tasks, refused: [], refused_total: 0 };
}

/** Drops the links of tasks and cuts their reasons for continue-as-new, when every task has ended. */
export function slimState(state: TeamState): TeamState {
  const entries = state.tasks.entries.map((task) => ({
    ...cutReason(task),
    inputs: [],
    depends_on: [],
    after: [],
  }));
  return { ...state, tasks: { ...state.tasks, entries } };
}

/**
 * Selects the effects that are carried.
 *
 * @param known Effects of leader and members, in the order of the first reports. @param delegationId Delegation of the
 * team.
 */
export function keepEffects(
  known: readonly KnownEffect[],
  delegationId: string,
): readonly KnownEffect[] {
  const ofMembers = known.filter(({ effect_id }) => !isEffectOf(delegationId, effect_id));
  const tooMany = Math.max(0, known.length - engineLimits.effectsMax);
  const left = new Set(ofMembers.slice(0, tooMany));
  return known.filter((effect) => !left.has(effect));
}

/** Returns the team's name in chains of teams, as in `TeamLink`. */
export function executorOf({ setup, delegation_id }: TeamState): string {
  return `team:${setup.team_id ?? delegation_id}`;
}

/**
 * Describes a working team for people.
 *
 * Invariants:
 *   VT1. Each task is shown, in the order of creation, with its use.
 */

/** Facts about a task besides its state in the team. */
export interface SeenTask {
  /** Turns of all its attempts. */
  readonly turns: number;
  readonly usage: Usage;
  /** View of its executor; null before it began. */
  readonly status: DelegationStatusView | null;
}

interface TeamProgress {
  readonly leader: TeamView['leader'];
  readonly worked_ms: number;
  readonly notes: readonly string[];
}

export function viewTeam(
  state: TeamState,
  seen: ReadonlyMap<string, SeenTask>,
  { leader, worked_ms, notes }: TeamProgress,
): TeamView {
  const { setup, tasks, refused, refused_total } = state;
  return {
    team_id: setup.team_id,
    leader,
    tasks: tasks.entries.map((task) => viewTask(task, setup, seen.get(task.delegation_id))),
    refused: refused.slice(-engineLimits.refusalsShownMax),
    refused_total,
    max_delegations: setup.max_delegations,
    worked_seconds: Math.floor(worked_ms / 1_000),
    timeout: setup.timeout,
    notes,
  };
}

const unseen: SeenTask = { turns: 0, usage: noUsage, status: null };

function viewTask(
  task: Entry<TeamTask>,
  { members }: TeamSetup,
  { turns, usage, status }: SeenTask = unseen,
): TaskView {
  const seat = members.find(({ member_id }) => member_id === task.member_id);
  const { delegation_id, member_id, executor_id, title, state, reason, attempts } = task;
  const waitsFor = state === 'running' && status?.state === 'waiting' ? status.waiting_for : null;
  return {
    delegation_id,
    member_id,
    executor_id,
    title,
    state: waitsFor === null ? state : 'waiting',
    reason: waitsFor ?? reason,
    attempts,
    turns,
    usage,
    executor: status?.executor ?? viewUnbegun(seat?.executor ?? { kind: 'agent' }),
  };
}

/**
 * Bounds the records of a team that are sent with its delegation's outcome, and from there to the planner.
 *
 * Invariants:
 *   TO1. An outcome takes at most `teamBytesMax` of `core/record-sizes.ts` for its team, however much its leader and
 *        members wrote.
 *   TO2. The use of the leader and of each member adds up to the use of leader and tasks.
 *   TO3. A report takes at most `reportBytesMax`; no task and no reason is left out, and its first refusals are kept.
 *   TO4. A team that did not finish, lost a task or was refused further tasks is partial, and its outcome says so.
 */

/**
 * Summarises a report. It has few members (`core/team/check-team.ts`) and many tasks, so members are listed and tasks
 * are counted.
 *
 * @param reportRef Address of the whole report.
 */
export function boundTeam(report: TeamReport, reportRef: Ref): TeamOutcome {
  const { setup, leader, notes } = report;
  const { teamExecutorCharsMax, teamNotesMax, teamNoteCharsMax } = engineLimits;
  return {
    team_id: setup.team_id,
    leader: { agent_id: setup.leader, turns: leader.turns, usage: leader.usage },
    members: sumMembers(report).map((one) => ({
      ...one,
      executor_id: cutText(one.executor_id, teamExecutorCharsMax),
    })),
    tasks: countTasks(report),
    partial: isPartial(report),
    notes: notes.slice(0, teamNotesMax).map((note) => cutText(note, teamNoteCharsMax)),
    report_ref: reportRef,
  };
}

/** Bounds a report for the store: cuts its reasons, and keeps no more refusals and notes than a report may hold. */
export function boundReport(report: TeamReport): TeamReport {
  const { refusalsKeptMax, teamReasonCharsMax } = engineLimits;
  return {
    ...cutReason(report),
    tasks: report.tasks.map(cutReason),
    refused: report.refused.slice(0, refusalsKeptMax).map(cutReason),
    notes: report.notes.slice(0, refusalsKeptMax).map((note) => cutText(note, teamReasonCharsMax)),
  };
}

/** Cuts a reason to the length that a report keeps. */
export function cutReason<T extends { readonly reason: string }>(one: T): T {
  return { ...one, reason: cutText(one.reason, engineLimits.teamReasonCharsMax) };
}

/** Sums the tasks and the use of each member, in the order of the team. */
export function sumMembers({ setup, tasks }: TeamReport): TeamOutcome['members'] {
  return setup.members.map(({ member_id, executor_id }) => {
    const own = tasks.filter((task) => task.member_id === member_id);
    const usage = addUsage(...own.map((task) => task.usage));
    return { member_id, executor_id, delegations: own.length, usage };
  });
}

/** Sums the use of the whole team. */
export function sumTeamUsage({ leader, members }: Pick<TeamOutcome, 'leader' | 'members'>): Usage {
  return addUsage(leader.usage, ...members.map(({ usage }) => usage));
}

/**
 * Returns true when the result may lack parts. A failed task counts even if the leader found another way, because only
 * the leader knows.
 */
function isPartial({ status, tasks, refused, setup }: TeamReport): boolean {
  const isAtLimit = refused.length > 0 && tasks.length >= setup.max_delegations;
  return status !== 'done' || isAtLimit || tasks.some((task) => task.status !== 'completed');
}

function countTasks({ tasks }: TeamReport): TeamOutcome['tasks'] {
  const count = (status: TaskStatus): number =>
    tasks.filter((task) => task.status === status).length;
  return {
    completed: count('completed'),
    failed: count('failed'),
    timed_out: count('timed_out'),
    stopped: count('stopped'),
    skipped: count('skipped'),
  };
}
