import type { Delegation } from '../../contracts/delegation.ts';
import type { TeamReport, TeamSeat, TeamOutcome } from '../../contracts/team-run.ts';
import { findPlanned, type LoadedTeam, type LoadedTask } from './record-texts.ts';
import {
  bullets,
  cutLine,
  embedMarkdown,
  joinSections,
  oneLine,
  table,
  embedCode,
} from '../../core/text/markdown.ts';
import { teamLimits } from './limits.ts';
import type { Usage } from '../../contracts/usage.ts';
import { countOf, formatCost, formatTokens, formatDuration } from '../../core/text/format.ts';
import { treePaths } from './paths.ts';
import { sumMembers, sumTeamUsage } from '../../core/team/team-state.ts';

/** Renders `teams/<delegation>.md`: who did what for a team, what it cost, and how each of its tasks ended. */
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

/** Explains the absence of tasks. A leader whose message is held back makes no call. */
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

/** Renders the tasks and costs of a team's members: a table with a sum. `executor_id` says what a member is. */
export function renderTeamCosts(team: Pick<TeamOutcome, 'leader' | 'members'>): string {
  const { leader, members } = team;
  const tasks = members.reduce((sum, { delegations }) => sum + delegations, 0);
  return table(
    ['who', 'what it is', 'tasks', 'calls', 'cost', 'tokens'],
    [
      ['leader', `agent ${leader.agent_id}`, '', ...costOf(leader.usage)],
      ...members.map(({ member_id, executor_id, delegations, usage }) => [
        `\`${member_id}\``,
        executor_id.replace(/^(?:agent|team):/, (kind) => kind.replace(':', ' ')),
        String(delegations),
        ...costOf(usage),
      ]),
      ['**all**', '', String(tasks), ...costOf(sumTeamUsage(team))],
    ],
  );
}

function costOf(usage: Usage): string[] {
  return [String(usage.calls), formatCost(usage), formatTokens(usage)];
}

/** Renders a task of a team: the request, how it ended, and its result in short. */
function renderTask(task: LoadedTask): string {
  return [
    `### \`${task.delegation_id}\`: ${oneLine(task.title)}`,
    renderTaskHead(task),
    ...renderAsked(task).map((part) => `#### What was asked\n\n${part}`),
    ...renderBrought(task, { depth: 4 }).map((part) => `#### What came\n\n${part}`),
  ].join('\n\n');
}

function renderAsked({ planned, plan_ref }: LoadedTask): readonly string[] {
  if (planned === null) return [];
  return [
    embedMarkdown(planned.task_description, {
      depth: 4,
      charsMax: teamLimits.taskCharsMax,
      whole: `the plan, artifact ${plan_ref}`,
    }),
  ];
}

function renderTaskHead(task: LoadedTask): string {
  const { member_id, inputs, attempts, worked_ms, usage, output_ref } = task;
  const tries = countOf(attempts, 'attempt');
  return bullets(
    [
      `**State:** ${describeEnd(task)}`,
      `**Member:** ${member_id}`,
      ...(inputs.length === 0 ? [] : [`**Was given:** ${inputs.join(', ')}`]),
      `**Took:** ${tries}, ${formatDuration(Math.round(worked_ms / 1_000))} of work, ${formatCost(usage)}, ${formatTokens(usage)}`,
      ...(output_ref === null ? [] : [`**Whole:** artifact ${output_ref}`]),
      ...listReports(task),
    ],
    '',
  );
}

/** Describes an end: `timed_out: The 60 s of a member are over.` */
export function describeEnd({ status, reason }: Pick<LoadedTask, 'status' | 'reason'>): string {
  const why = cutLine(reason, { charsMax: teamLimits.lineCharsMax, whole: 'the report' });
  return why === '' ? status : `${status}: ${why}`;
}

/** Lists the reports of a triad or a team that did the task. */
function listReports({ delegation_id, executor }: LoadedTask): readonly string[] {
  if (executor.kind === 'agent' || executor.work === null) return [];
  if (executor.kind === 'team') {
    return [`**How the team came to it:** ${treePaths.team(delegation_id)}`];
  }
  const last = executor.work.phases.at(-1);
  return last === undefined
    ? []
    : [`**How the triad came to it:** ${treePaths.triadPhase(delegation_id, last.phase)}`];
}

/** Renders the result of a task in short: its output, or the last words of one that was cut off. Empty without either. */
export function renderBrought(
  { output, output_ref, partial, partial_ref }: LoadedTask,
  { depth }: { readonly depth: number },
): readonly string[] {
  if (output !== null) {
    return [
      embedMarkdown(output.compact_md, {
        depth,
        charsMax: teamLimits.compactCharsMax,
        whole: `artifact ${output_ref ?? ''}`,
      }),
    ];
  }
  if (partial === null) return [];
  const words = embedCode(partial, {
    language: '',
    charsMax: teamLimits.partialCharsMax,
    whole: `artifact ${partial_ref ?? ''}`,
  });
  return [`*Not whole: what had arrived when its time was over.*\n\n${words}`];
}
