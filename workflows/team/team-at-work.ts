import type { CancellationScope } from '@temporalio/workflow';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord, TeamReport } from '../../contracts/team-run.ts';
import type { DelegationState, TeamLeaderView } from '../../contracts/views.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import { listWritten } from '../../core/effects/step-effect.ts';
import { stepSchedule } from '../../core/schedule/step-schedule.ts';
import type { ScheduleEvent } from '../../core/schedule/step-schedule.ts';
import type { SeenTask, TeamState, TeamTask, RefusalKind } from '../../core/team/team-state.ts';
import { viewTeam } from '../../core/team/team-state.ts';
import { noteLoaded } from '../../core/turns/turns-state.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { Execute, ExecutionContext, TaskCount } from '../execution/execution-context.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { MemberBudget, SharedBudget } from '../shared/share-budget.ts';
import type { SharedSuperior } from '../shared/share-superior.ts';
import type { Superior } from '../shared/superior.ts';
import type { ToolWork } from '../execution/call-acting-tool.ts';
import { isEffectOf, namePath, taskOwner } from '../../core/ids.ts';
import { stepSummary } from '../../core/render/labels.ts';
import { findMergeConflicts } from '../shared/activities.ts';
import { log } from '@temporalio/workflow';
import { metrics } from '../../core/metrics/metrics.ts';
import { hasOpened } from '../../core/schedule/failures.ts';
import { breakerOf } from '../../core/schedule/schedule.ts';
import { describeTaskConflicts } from '../../core/workspace/run-changes.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { Stopwatch } from '../shared/work-clock.ts';
import { recorder } from '../shared/in-span.ts';

/** Context of a team: with the function that carries out its tasks. */
export interface TeamContext extends ExecutionContext {
  readonly execute: Execute;
}

/** Reason why a team ends before its leader has finished. */
interface TeamClosed {
  readonly status: Extract<TeamReport['status'], 'timed_out' | 'stopped'>;
  readonly reason: string;
}

/** A running team. `core/team` and `core/schedule` decide; this starts, waits and remembers. */
export interface TeamAtWork {
  /** Its order has the record and the plan that hold the message as middlewares left it. */
  readonly context: TeamContext;
  readonly message_ref: Ref;
  readonly budget: SharedBudget;
  readonly taskCount: TaskCount;
  readonly superior: SharedSuperior;
  /** The leader's own parts. */
  readonly own: {
    readonly budget: MemberBudget;
    readonly superior: Superior;
    readonly tools: ToolWork;
    readonly conversation: Conversation;
  };
  readonly clock: Stopwatch;
  /** Milliseconds of work before this run of the workflow. */
  readonly workedBefore: number;
  /** Scope of everything that the team does: its time limit cancels it. */
  readonly scope: CancellationScope;
  /** Running tasks, by delegation_id. */
  readonly running: Map<string, TaskAtWork>;
  readonly records: Map<string, TaskRecord>;
  readonly seen: Map<string, SeenTask>;
  /** detail_ids that tasks loaded, by delegation_id. */
  readonly loaded: Map<string, readonly string[]>;
  readonly notes: string[];
  /** Effects of earlier runs of the workflow. */
  readonly effectsBefore: readonly KnownEffect[];
  state: TeamState;
  leaderState: TeamLeaderView['state'];
  waitingFor: string;
  closed: TeamClosed | null;
}

export interface TaskAtWork {
  readonly scope: CancellationScope;
  /** Milliseconds of work at which it began. */
  readonly since_ms: number;
  isTimedOut: boolean;
}

/** Returns milliseconds of work of the whole team. */
export function workedMs({ clock, workedBefore }: TeamAtWork): number {
  return workedBefore + clock.now();
}

/** Applies an event to the state of the team. @returns delegation_ids of tasks to start now. */
export function on(t: TeamAtWork, event: ScheduleEvent<TeamTask>): readonly string[] {
  const { schedule, commands } = stepSchedule(t.state.tasks, event, workedMs(t));
  t.state = { ...t.state, tasks: schedule };
  return commands.flatMap((one) => (one.type === 'start' ? [one.delegation_id] : []));
}

/** Closes the team: no further task begins, and running ones end by themselves. */
export function closeTasks(t: TeamAtWork, reason: string): void {
  on(t, { type: 'halt', reason });
}

/** The part of a team that knows what it has changed. */
export interface TeamChanges extends Pick<TeamAtWork, 'effectsBefore'> {
  readonly superior: Pick<SharedSuperior, 'effects'>;
}

/** Returns the known changes that the leader or a member made outside. */
export function knownEffects({ superior, effectsBefore }: TeamChanges): readonly KnownEffect[] {
  const newest = new Map(
    [...effectsBefore, ...superior.effects()].map((effect) => [effect.effect_id, effect]),
  );
  return [...newest.values()];
}

/**
 * Lists the files that a task wrote, with those of a team that did it. Absent when there are none.
 *
 * @param effects those that are known.
 */
export function filesOf(
  effects: readonly KnownEffect[],
  delegationId: string,
): Pick<UpstreamOutput, 'files'> {
  const files = listWritten(effects.filter(({ effect_id }) => isByTask(delegationId, effect_id)));
  return files.length > 0 ? { files } : {};
}

function isByTask(delegationId: string, effectId: string): boolean {
  return isEffectOf(delegationId, effectId) || effectId.startsWith(`${delegationId}.`);
}

/** Returns detail_ids that leader and members loaded, as in DelegationOutcome. */
export function loadedDetails(t: TeamAtWork): readonly string[] {
  return [...t.records.values()].reduce(
    (loaded, record) => noteLoaded(loaded, t.loaded.get(record.delegation_id) ?? []),
    t.own.tools.loadedDetails,
  );
}

/** Sums the use of leader and members. */
export function usageOf(t: TeamAtWork): Usage {
  return addUsage(t.own.conversation.usage, ...[...t.seen.values()].map(({ usage }) => usage));
}

/** Counts model calls of leader and members. */
export function countTurns(t: TeamAtWork): number {
  return [...t.seen.values()].reduce((sum, { turns }) => sum + turns, t.own.conversation.calls);
}

export function showTeam(t: TeamAtWork, end?: { state: DelegationState; reason: string }): void {
  const { delegation_id, title } = t.context.order.delegation;
  const { conversation } = t.own;
  const agent_id = t.state.setup.leader;
  const phases = [...t.seen.values()].flatMap(({ status }) => status?.phases_at_work ?? []);
  const waits = [t.waitingFor, ...waitsOfMembers(t)].filter((one) => one !== '').join(' · ');
  t.context.onStatus({
    delegation_id,
    agent_id,
    title,
    state: end?.state ?? (waits === '' ? 'running' : 'waiting'),
    turn: countTurns(t),
    waiting_for: end?.reason ?? waits,
    usage: usageOf(t),
    ...(phases.length > 0 && { phases_at_work: phases }),
    executor: {
      kind: 'team',
      team_id: t.state.setup.team_id,
      view: viewTeam(t.state, t.seen, {
        leader: {
          agent_id,
          state: end === undefined ? t.leaderState : 'done',
          turns: conversation.calls,
          usage: conversation.usage,
        },
        worked_ms: workedMs(t),
        notes: t.notes,
      }),
    },
  });
}

function waitsOfMembers(t: TeamAtWork): string[] {
  return [...t.running.keys()].flatMap((id) => {
    const status = t.seen.get(id)?.status ?? null;
    return status?.state === 'waiting' ? [status.waiting_for] : [];
  });
}

/** Notes in the records of ended tasks that they and other tasks of the team changed the same lines. */
export async function noteConflicts(t: TeamAtWork, ended: readonly TeamTask[]): Promise<void> {
  const { entries } = t.state.tasks;
  const effects = knownEffects(t);
  const acted = entries.filter(({ delegation_id: id }) =>
    effects.some((one) => isByTask(id, one.effect_id)),
  );
  const { run_id, record_ref, delegation } = t.context.order;
  const { delegation_id: team } = delegation;
  const sides = acted.length + (effects.some((one) => isEffectOf(team, one.effect_id)) ? 1 : 0);
  // One side alone has nothing to contradict.
  if (sides < 2 || !acted.some((one) => ended.some((task) => isSame(task, one)))) return;
  const { conflicts } = await callUntilDone(
    t.own.superior,
    findMergeConflicts,
    stepSummary(team, 'merge the changes'),
    { run_id, record_ref, completed: [], team, unfinished: listUnfinished(t) },
  );
  for (const [id, text] of describeTaskConflicts(conflicts, ended, entries)) {
    const record = t.records.get(id);
    if (record === undefined) continue;
    const reason = record.reason === '' ? text : `${record.reason}\n${text}`;
    t.records.set(id, { ...record, reason });
  }
}

function listUnfinished({ records }: TeamAtWork): readonly string[] {
  return [...records.values()].flatMap(({ delegation_id, status }) =>
    status === 'completed' ? [] : [delegation_id],
  );
}

function isSame(one: TeamTask, other: Pick<TeamTask, 'delegation_id'>): boolean {
  return one.delegation_id === other.delegation_id;
}

/** Logs and counts what happens in a team. Reasons stay out of it: a model may have written them. */

export function noteRefusal(delegation: string, kind: RefusalKind): void {
  recorder.count(metrics.teamRefusals, { reason: kind });
  log.info('call refused', { delegation: taskOwner(delegation), reason: kind });
}

/** A task has ended; by it the team came from one state to the other. */
export function noteTaskEnd(
  { delegation_id, member_id, status, attempts }: TaskRecord,
  before: TeamState,
  after: TeamState,
  nowMs: number,
): void {
  const work = {
    delegation: taskOwner(delegation_id),
    task: namePath(delegation_id),
    member: member_id,
  };
  log.info('task ended', { ...work, status, attempts });
  if (!hasOpened(breakerOf(before.tasks, member_id), breakerOf(after.tasks, member_id), nowMs))
    return;
  log.info('member rests', work);
  const seat = seatOf(after, member_id);
  if (seat !== undefined) recorder.count(metrics.teamBreakers, { kind: seat.executor.kind });
}

export function noteTeamEnd(report: TeamReport): void {
  recorder.count(metrics.teams, { status: report.status });
  for (const { member_id, status, attempts, worked_ms } of report.tasks) {
    const kind = seatOf(report, member_id)?.executor.kind;
    if (kind === undefined) continue;
    recorder.count(metrics.teamTasks, { kind, status });
    recorder.count(metrics.teamRetries, {}, attempts - 1);
    if (attempts > 0) recorder.observe(metrics.teamTaskDuration, { kind }, worked_ms / 1_000);
  }
}

export function noteTeamNotBegun(): void {
  recorder.count(metrics.teams, { status: 'not_begun' });
}

function seatOf({ setup }: Pick<TeamReport, 'setup'>, memberId: string) {
  return setup.members.find(({ member_id }) => member_id === memberId);
}
