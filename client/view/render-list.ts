import type { RunEntry } from '../../contracts/run-page.ts';
import { commandText } from '../../core/text/format.ts';
import { formatTime } from '../format-time.ts';
import { anchor, markup } from './markup.ts';
import { renderDocument } from './render-page.ts';
import type { Live } from './render-question.ts';
import { badge, table } from './render-work.ts';

/** Shows all runs as one HTML page, which follows them. @param pathOf Returns the address of a run's page. */
export function renderList(
  runs: readonly RunEntry[],
  { pathOf, ...live }: Live & { readonly pathOf: (runId: string) => string },
): string {
  const rows = runs.map(
    ({ run_id, goal_title, state, started_at }) =>
      markup`<tr id="${anchor('run', run_id)}">
        <th scope="row" class="text"><a href="${pathOf(run_id)}">${goal_title || run_id}</a></th>
        <td>${badge(state)}</td>
        <td class="when"><code>${run_id}</code></td>
        <td class="when">${started_at === null ? null : formatTime(started_at)}</td>
      </tr>`,
  );
  const list =
    rows.length === 0
      ? markup`<p>
          No run is recorded here. Start one with <code>${commandText('start', 'your goal')}</code>,
          or set <code>PLANWAVE_HOME</code> to the value that the worker uses.
        </p>`
      : table('Runs', ['Goal', 'State', 'Run', 'Started (UTC)'], rows);
  return renderDocument(
    'Runs',
    live,
    markup`<header><h1>Runs</h1></header>
      <main id="main">${list}</main>`,
  );
}
