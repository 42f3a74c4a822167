import type { Delegation } from '../../contracts/delegation.ts';
import type { TeamReport, TeamSeat } from '../../contracts/team-run.ts';
import { sumMembers } from '../../core/team/bound-team.ts';
import { findPlanned } from './find-planned.ts';
import type { LoadedTeam } from './load-team.ts';
import { bullets, cutLine, embedMarkdown, joinSections, oneLine } from './markdown.ts';
import { renderTeamCosts } from './render-team-costs.ts';
import { renderTask } from './render-team-task.ts';
import { teamLimits } from './team-limits.ts';

/** `teams/<delegation>.md`: who did what for a team, what it cost, and how each of its tasks ended. */
export function renderTeam(team: LoadedTeam, delegationId: string): string {
  const planned = findPlanned(delegationId, team.plan);
  return joinSections([
    `# Team: ${oneLine(planned.title)}`,
    renderHead(team, delegationId),
    renderMessage(team, planned),
    `## Who did what\n\n${renderMembers(team.report)}`,
    renderAnswer(team),
    '## Tasks',
    ...(team.tasks.length === 0 ? ['The leader gave out none.'] : team.tasks.map(renderTask)),
    renderRefused(team.report),
    renderNotes(team.report),
  ]);
}

function renderHead({ report, report_ref }: LoadedTeam, delegationId: string): string {
  const { setup, status, reason, tasks } = report;
  const { team_id, max_delegations, timeout, member_timeout, allow_parallel, max_parallel } = setup;
  const whose = team_id === null ? 'a team without a name' : `the team \`${team_id}\``;
  const order = allow_parallel ? `up to ${max_parallel} at the same time` : 'one after the other';
  return bullets(
    [
      `**State:** ${status}${reason === '' ? '' : `: ${shorten(reason)}`}`,
      `**Delegation:** ${delegationId}, by ${whose}`,
      `**Tasks:** ${tasks.length} of at most ${max_delegations}, ${order}`,
      `**Time:** ${timeout} s of work at most, ${member_timeout} s for one task`,
      `**Report:** artifact ${report_ref}`,
    ],
    '',
  );
}

function renderMessage({ report }: LoadedTeam, { task_description }: Delegation): string {
  const message = embedMarkdown(task_description, {
    depth: 2,
    charsMax: teamLimits.messageCharsMax,
    whole: `the plan, artifact ${report.plan_ref}`,
  });
  return `## Message\n\n${message}`;
}

function renderMembers(report: TeamReport): string {
  const { setup, leader } = report;
  const seats = new Map(setup.members.map((seat) => [seat.member_id, describeSeat(seat)]));
  return renderTeamCosts({
    leader: { ...leader, agent_id: setup.leader },
    members: sumMembers(report).map((one) => ({
      ...one,
      executor_id: seats.get(one.member_id) ?? one.executor_id,
    })),
  });
}

function describeSeat({ executor, agent_id, executor_id, enabled }: TeamSeat): string {
  const off = enabled ? '' : ', disabled';
  switch (executor.kind) {
    case 'agent':
      return `agent ${agent_id}${off}`;
    case 'triad':
      return `${executor.type} triad, written by ${agent_id}${off}`;
    case 'team':
      return `${executor_id.replace(/^team:/, 'team ')}, led by ${agent_id}${off}`;
  }
}

function renderAnswer({ report, output, tasks }: LoadedTeam): string {
  if (output === null) {
    const rest = tasks.length === 0 ? '' : ' What its members brought stands below.';
    return `## Answer\n\n${whyNone(report)}${rest}`;
  }
  const compact = embedMarkdown(output.compact_md, {
    depth: 2,
    charsMax: teamLimits.compactCharsMax,
    whole: `artifact ${report.output_ref ?? ''}`,
  });
  return `## Answer\n\n*${output.status}; whole: artifact ${report.output_ref ?? ''}*\n\n${compact}`;
}

/** A leader whose message is held back makes no call. */
function whyNone({ status, leader }: TeamReport): string {
  if (status !== 'blocked') return 'The leader gave none.';
  return leader.turns === 0 ? 'The message did not reach the leader.' : 'It was held back.';
}

function renderRefused({ refused }: TeamReport): string | null {
  if (refused.length === 0) return null;
  const lines = refused.map(({ member_id, reason }) => shorten(`${member_id}: ${reason}`));
  return `## Calls that were not carried out\n\n${bullets(lines, '')}`;
}

function renderNotes({ setup, notes }: TeamReport): string | null {
  const all = [...new Set([...setup.notes, ...notes])];
  return all.length === 0 ? null : `## Notes\n\n${bullets(all.map(shorten), '')}`;
}

function shorten(text: string): string {
  return cutLine(text, { charsMax: teamLimits.lineCharsMax, whole: 'the report' });
}
