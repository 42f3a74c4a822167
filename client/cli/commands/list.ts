import type { Command } from 'commander';
import { type ListedRun, formatSpent } from '../../run-listing.ts';
import { describeStuck } from '../../stuck-workflows.ts';
import { formatTime } from '../../format-time.ts';
import type { CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';
import { readWholeNumber } from './input-options.ts';
import { describeLoad } from '../../../core/run/run-place.ts';
import { commandText } from '../../../core/text/format.ts';

interface Options {
  readonly limit: number;
  readonly open?: boolean;
}

export function registerList(command: Command, runner: CommandRunner): void {
  command
    .option('--limit <count>', 'maximum number of runs', readWholeNumber, 20)
    .option('--open', 'only runs that have not ended')
    .action(
      runner(async ({ session }, { limit, open }: Options) => {
        const { client } = await session();
        const runs = await client.list({ limit, open });
        return { data: { runs }, lines: describeRuns(runs) };
      }),
    );
}

function describeRuns(runs: readonly ListedRun[]): string[] {
  if (runs.length === 0) return [`No runs. Try: ${commandText('start', 'your goal')}`];
  const isPlaced = runs.some(({ load }) => describeLoad(load) !== '');
  const rows = runs.map((run) => [
    cleanLine(run.run_id),
    phaseOf(run),
    run.wave === null ? '' : String(run.wave),
    countOpen(run),
    formatSpent(run),
    ...(isPlaced ? [describeLoad(run.load)] : []),
    formatTime(run.started_at),
    cleanLine(run.goal, 60),
  ]);
  const place = isPlaced ? ['place'] : [];
  const head = ['run', 'phase', 'wave', 'questions', 'cost', ...place, 'started (UTC)', 'goal'];
  return [...renderTable(head, rows), ...explainStuck(runs)];
}

/** Counts none for a run that is over, such as the old one of a run that was reset. */
function countOpen({ execution, open_questions: open }: ListedRun): string {
  return execution !== 'running' || open === null || open === 0 ? '' : `${open} open`;
}

/** After a wrong deploy many runs are stuck for the same reason. */
function explainStuck(runs: readonly ListedRun[]): string[] {
  const [first, ...others] = runs.flatMap(({ stuck }) => (stuck === null ? [] : [stuck]));
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` So are ${others.length} more of these runs.`;
  return [`${cleanLine(describeStuck(first))}.${more}`];
}

/** Prefers how the workflow was closed, or that it is stuck, to the phase that a worker recorded last. */
function phaseOf({ execution, phase, stuck }: ListedRun): string {
  if (stuck !== null) return 'stuck';
  const isOver = execution !== 'running' && execution !== 'completed';
  return (isOver ? execution : (phase ?? execution)).replaceAll('_', ' ');
}
