/**
 * What travels of a team: with its delegation's outcome, and from there to the planner.
 *
 * Invariants:
 *   TO1. An outcome takes at most `teamBytesMax` of `core/team-sizes.ts` for its team, whatever its leader and members wrote.
 *   TO2. What the leader used and what each member used add up to what leader and tasks used together.
 *   TO3. A report takes at most `reportBytesMax`; no task and no reason is left out of it, and its first refusals are kept.
 *   TO4. A team that did not come to its end, lost a task or was refused more of them is partial, and its outcome says so.
 */
import type { Ref } from '../../contracts/ref.ts';
import type { TaskStatus, TeamOutcome, TeamReport } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { addUsage } from '../usage/add-usage.ts';

/**
 * A report has few members (`core/team/check-team.ts`) and many tasks, so members are all told, and tasks counted.
 *
 * @param reportRef where the whole is.
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

/** A report on its way to the store: its reasons are cut, and refusals and notes are as many as it may hold. */
export function boundReport(report: TeamReport): TeamReport {
  const { refusalsKeptMax, teamReasonCharsMax } = engineLimits;
  return {
    ...cutReason(report),
    tasks: report.tasks.map(cutReason),
    refused: report.refused.slice(0, refusalsKeptMax).map(cutReason),
    notes: report.notes.slice(0, refusalsKeptMax).map((note) => cutText(note, teamReasonCharsMax)),
  };
}

/** As long as a report keeps it. */
export function cutReason<T extends { readonly reason: string }>(one: T): T {
  return { ...one, reason: cutText(one.reason, engineLimits.teamReasonCharsMax) };
}

/** What each member did and used, in the order of the team. */
export function sumMembers({ setup, tasks }: TeamReport): TeamOutcome['members'] {
  return setup.members.map(({ member_id, executor_id }) => {
    const own = tasks.filter((task) => task.member_id === member_id);
    const usage = addUsage(...own.map((task) => task.usage));
    return { member_id, executor_id, delegations: own.length, usage };
  });
}

/** What the whole team used. */
export function sumTeamUsage({ leader, members }: Pick<TeamOutcome, 'leader' | 'members'>): Usage {
  return addUsage(leader.usage, ...members.map(({ usage }) => usage));
}

/**
 * Whether it may hold less than was asked for. A task that failed counts, though the leader may have found another way:
 * nobody but the leader can tell.
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
    not_started: count('not_started'),
  };
}
