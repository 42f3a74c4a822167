/**
 * Renders a team as part of its delegation's page in Temporal's Web UI.
 *
 * Invariants:
 *   TJ1. The page begins with what waits for whom.
 *   TJ2. Each task that there is room for is listed with state, member, attempts and cost; tasks of a nested team stand
 *        below their task.
 */
import type { ExecutorView, TaskView, TeamLeaderView, TeamView } from '../../contracts/views.ts';
import { countOf, formatCost } from '../text/format.ts';
import { bullet, codeSpan, plainText } from '../text/markdown.ts';

/** Tasks in one block: a block is shown whole or not at all. */
const linesPerBlock = 10;

/** Most tasks that are named as awaited or waiting. The list of tasks has all of them. */
const waitsMax = 10;

/** Returns blocks of Markdown. */
export function teamBlocks(view: TeamView): string[] {
  const lines = view.tasks.flatMap((task) => taskLines(task, 0));
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; i += linesPerBlock) {
    blocks.push(lines.slice(i, i + linesPerBlock).join('\n'));
  }
  return [
    ...waitBlocks(view),
    '## Team',
    headLines(view).join('\n'),
    ...(blocks.length === 0 ? [] : ['### Tasks', ...blocks]),
    ...refusedBlocks(view),
    ...(view.notes.length === 0
      ? []
      : [`### Notes\n\n${view.notes.map((note) => bullet(plainText(note, 300))).join('\n')}`]),
  ];
}

function waitBlocks({ leader, tasks }: TeamView): string[] {
  const open = tasks.filter(({ state }) => isOpen(state));
  const waiting = open.filter(({ state, reason }) => state !== 'running' && reason !== '');
  const names = open.slice(0, waitsMax).map(nameOf);
  const more = open.length > waitsMax ? ` and ${open.length - waitsMax} more` : '';
  const lines = [
    ...(leader.state === 'waiting_for_members' && open.length > 0
      ? [bullet(`The leader waits for ${names.join(', ')}${more}`)]
      : []),
    ...(leader.state === 'waiting_for_user' ? [bullet('The leader waits for an answer')] : []),
    ...waiting
      .slice(0, waitsMax)
      .map((task) => bullet(`${nameOf(task)} waits: ${plainText(task.reason, 300)}`)),
  ];
  return lines.length === 0 ? [] : [`## Who waits\n\n${lines.join('\n')}`];
}

function isOpen(state: TaskView['state']): boolean {
  return state === 'pending' || state === 'running' || state === 'waiting';
}

function nameOf({ delegation_id, member_id }: TaskView): string {
  return `${codeSpan(delegation_id, 130)} of ${plainText(member_id, 60)}`;
}

function headLines(view: TeamView): string[] {
  const { team_id, leader, tasks, max_delegations, worked_seconds, timeout } = view;
  return [
    ...(team_id === null ? [] : [bullet(`**Name:** ${plainText(team_id, 60)}`)]),
    bullet(`**Leader:** ${describeLeader(leader)}`),
    bullet(`**Tasks:** ${tasks.length} of at most ${max_delegations}`),
    bullet(`**Time:** ${Math.round(worked_seconds)} of at most ${timeout} s of work`),
  ];
}

function describeLeader({ agent_id, state, turns, usage }: TeamLeaderView): string {
  const said = countOf(turns, 'turn');
  return `${plainText(agent_id, 60)} · ${state.replaceAll('_', ' ')} · ${said} · ${formatCost(usage)}`;
}

function taskLines(task: TaskView, level: number): string[] {
  const { delegation_id, member_id, title, state, reason, attempts, usage, executor } = task;
  const team = executor.kind === 'team' ? executor.view : null;
  const parts = [
    `**${state.replaceAll('_', ' ')}**`,
    plainText(title, 80),
    codeSpan(delegation_id, 130),
    plainText(member_id, 60),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    formatCost(usage),
    ...describeWork(executor),
    ...(reason === '' ? [] : [plainText(reason, 200)]),
  ];
  return [
    `${'  '.repeat(level)}${bullet(parts.join(' · '))}`,
    ...(team?.tasks.flatMap((one) => taskLines(one, level + 1)) ?? []),
  ];
}

/** Describes the progress of a triad or a team that does the task. */
function describeWork(executor: ExecutorView): string[] {
  if (executor.kind === 'agent' || executor.view === null) return [];
  return executor.kind === 'triad'
    ? [`${executor.type} triad, ${executor.view.phase}`]
    : [`team, its leader: ${executor.view.leader.state.replaceAll('_', ' ')}`];
}

function refusedBlocks({ refused, refused_total }: TeamView): string[] {
  if (refused_total === 0) return [];
  const lines = refused.map(({ member_id, reason }) =>
    bullet(`${codeSpan(member_id, 60)} · ${plainText(reason, 300)}`),
  );
  return [`### Calls that were not carried out: ${refused_total}\n\n${lines.join('\n')}`];
}
