import type { TaskView, TeamView } from '../../../contracts/views.ts';
import { cleanLine } from './clean-text.ts';
import { formatCost } from '../../../contracts/format-cost.ts';
import { renderTable } from './render-table.ts';
import { teamViewOf } from '../../executor-views.ts';

const headers = ['task', 'member', 'state', 'attempts', 'cost', 'title'];

/** The tasks of a team, each before those of a team that does it. Empty when none was given out. */
export function renderTaskTable(team: TeamView): string[] {
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
