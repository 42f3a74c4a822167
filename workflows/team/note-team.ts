import { log } from '@temporalio/workflow';
import type { TaskRecord, TeamReport } from '../../contracts/team-run.ts';
import { namePath, taskOwner } from '../../core/ids.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { hasOpened } from '../../core/schedule/failures.ts';
import { breakerOf } from '../../core/schedule/schedule.ts';
import type { RefusalKind, TeamState } from '../../core/team/team-state.ts';
import { recorder } from '../shared/recorder.ts';

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
