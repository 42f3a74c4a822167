import type {
  DelegationStatusView,
  EvaluationView,
  TaskView,
  TeamView,
} from '../../../contracts/views.ts';
import { teamViewOf } from '../../../core/executor.ts';
import { formatCost } from '../../../core/text/format.ts';
import { describeTeam } from '../follow/render-tree.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';

/** Describes the team of a delegation, with a table of its tasks. Empty without a team. */
export function describeTeamOf(work: DelegationStatusView | undefined): string[] {
  const team = teamViewOf(work?.executor);
  return team === null ? [] : [describeTeam(team), ...renderTaskTable(team)];
}

/** Describes the cells of an evaluation that are at work, and the newest that did not pass, in a table. Empty without any. */
export function describeCellsOf(evaluation: EvaluationView | undefined): string[] {
  const { at_work = [], newest_not_passed = [] } = evaluation ?? {};
  const rows = [
    ...newest_not_passed.map((cell) => ({ ...cell, state: cell.status.replaceAll('_', ' ') })),
    ...at_work.map((cell) => ({ ...cell, state: 'at work', reason: '' })),
  ].map(({ run_id, goal, setting, repetition, state, reason }) =>
    [run_id, goal, setting, String(repetition), state, reason].map((text) => cleanLine(text, 160)),
  );
  return rows.length === 0
    ? []
    : renderTable(['run', 'goal', 'setting', 'repetition', 'state', 'reason'], rows);
}

const headers = ['task', 'member', 'state', 'attempts', 'cost', 'title'];

/** Renders the tasks of a team, each before those of a team that does it. Empty when no task was created. */
function renderTaskTable(team: TeamView): string[] {
  const rows = rowsOf(team);
  return rows.length === 0 ? [] : renderTable(headers, rows);
}

function rowsOf({ tasks }: TeamView): string[][] {
  return tasks.flatMap((task) => {
    const team = teamViewOf(task.executor);
    return [toRow(task), ...(team === null ? [] : rowsOf(team))];
  });
}

function toRow({ delegation_id, member_id, state, attempts, usage, title }: TaskView): string[] {
  return [
    cleanLine(delegation_id),
    cleanLine(member_id),
    state.replaceAll('_', ' '),
    String(attempts),
    formatCost(usage),
    cleanLine(title, 60),
  ];
}
