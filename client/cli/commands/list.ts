import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import type { RunListing } from '../../run-listing.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../text/clean-text.ts';
import { formatTime } from '../text/format-time.ts';
import { formatUsd } from '../text/format-usage.ts';
import { renderTable } from '../text/render-table.ts';
import { readWholeNumber } from './read-whole-number.ts';

interface Options {
  readonly limit: number;
  readonly open?: boolean;
}

export function registerList(program: Command, runner: CommandRunner): void {
  program
    .command('list')
    .description('runs, newest first; works with every worker off')
    .option('--limit <count>', 'most runs to show', readWholeNumber, 20)
    .option('--open', 'only runs that have not ended')
    .action((options: Options, command: Command) =>
      runner.run(command, async ({ session }) => {
        const { client } = await session();
        const runs = await client.list({ limit: options.limit, open: options.open });
        return { data: { runs }, lines: describeRuns(runs) };
      }),
    );
}

function describeRuns(runs: readonly RunListing[]): string[] {
  if (runs.length === 0) return [`No runs. Try: ${commandText('start', 'your goal')}`];
  const rows = runs.map((run) => [
    cleanLine(run.run_id),
    phaseOf(run),
    run.wave === null ? '' : String(run.wave),
    run.open_questions === null || run.open_questions === 0 ? '' : `${run.open_questions} open`,
    run.cost_usd === null ? '' : formatUsd(run.cost_usd),
    formatTime(run.started_at),
    cleanLine(run.goal, 60),
  ]);
  return renderTable(['run', 'phase', 'wave', 'questions', 'cost', 'started (UTC)', 'goal'], rows);
}

/** How the workflow was closed says more than the phase that a worker recorded last. */
function phaseOf({ execution, phase }: RunListing): string {
  const isOver = execution !== 'running' && execution !== 'completed';
  return (isOver ? execution : (phase ?? execution)).replaceAll('_', ' ');
}
