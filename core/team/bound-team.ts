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
import type { Ref } from '../../contracts/ref.ts';
import type { TaskStatus, TeamOutcome, TeamReport } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { addUsage } from '../usage/add-usage.ts';

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
