import type { TaskView, TeamView, TriadPhaseView } from '../../../contracts/views.ts';
import { cleanLine } from '../terminal-text.ts';
import { formatTurns } from '../../../core/text/format.ts';
import type { Paint } from '../terminal-text.ts';
import { taskMarks } from '../text/task-marks.ts';
import type { TreeNode } from './tree-node.ts';

const titleCharactersMax = 60;
const reasonCharactersMax = 160;
/** Newest tasks of a team that are shown one by one, so that the tree fits a screen. */
const tasksMax = 12;

/** The tasks of a team, those of a team among its members below. */
export function taskNodes(team: TeamView | null | undefined, paint: Paint): TreeNode[] {
  const tasks = team?.tasks ?? [];
  const shown = tasks.slice(-tasksMax);
  const hidden = tasks.length - shown.length;
  return [
    ...(hidden > 0 ? [{ line: `${hidden} earlier tasks`, children: [] }] : []),
    ...shown.map((task) => ({
      line: describeTask(task, paint),
      children: taskNodes(task.team, paint),
    })),
  ];
}

/** `leader thinks, 3 of 10 tasks, 1 call refused, 42 of 300 s`. */
export function describeTeam(team: TeamView): string {
  const { leader, tasks, max_delegations, refused_total, worked_seconds, timeout } = team;
  return [
    `leader ${leaderStates[leader.state]}`,
    `${tasks.length} of ${max_delegations} tasks`,
    ...(refused_total === 0
      ? []
      : [`${refused_total} ${refused_total === 1 ? 'call' : 'calls'} refused`]),
    `${Math.round(worked_seconds)} of ${timeout} s`,
  ].join(', ');
}

const leaderStates: Readonly<Record<TeamView['leader']['state'], string>> = {
  opening: 'begins',
  thinking: 'thinks',
  waiting_for_members: 'waits for members',
  waiting_for_user: 'waits for an answer',
  done: 'is done',
};

/** A task of a team in one line. */
export function describeTask(task: TaskView, paint: Paint): string {
  const { delegation_id, member_id, title, state, reason, attempts, usage, triad, team } = task;
  const [mark, tone] = taskMarks[state];
  const isAtWork = state === 'running' || state === 'waiting';
  return [
    `${paint(tone, mark)} ${cleanLine(delegation_id)} (${cleanLine(member_id)}) ${cleanLine(title, titleCharactersMax)}`,
    paint(tone, state.replaceAll('_', ' ')),
    ...(isAtWork && triad !== undefined ? [describeTriadPhase(triad)] : []),
    ...(team === undefined ? [] : [describeTeam(team)]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(usage.calls > 0 ? [formatTurns(usage)] : []),
    ...(reason === '' ? [] : [cleanLine(reason, reasonCharactersMax)]),
  ].join(' · ');
}

/** `negotiate, round 2 of 3: critic`. */
export function describeTriadPhase({ phase, round, rounds_max, at_work }: TriadPhaseView): string {
  const names = at_work.map((name) => cleanLine(name)).join(', ');
  const where = `${cleanLine(phase)}${round === 0 ? '' : `, round ${round} of ${rounds_max}`}`;
  return names === '' ? where : `${where}: ${names}`;
}
