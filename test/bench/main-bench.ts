import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../scripts/bootstrap/expected-error.mjs';
import { root } from '../../scripts/bootstrap/hand-over.mjs';
import { listenForStop } from '../../scripts/parts/supervise.ts';
import { benchUsage, readBenchOptions } from './bench-options.ts';
import type { BenchOptions } from './bench-options.ts';
import { createFigureContext } from './figure-context.ts';
import type { BenchContext } from './figure-context.ts';
import type { Figure, FigureRow } from './figure.ts';
import { coldStart } from './figures/cold-start.ts';
import { historyGrowth } from './figures/history-growth.ts';
import { makespan } from './figures/makespan.ts';
import { manyWaves } from './figures/many-waves.ts';
import { promptCache } from './figures/prompt-cache.ts';
import { storeTurns } from './figures/store-turns.ts';
import { stores } from './figures/stores.ts';
import { tools } from './figures/tools.ts';
import { tenants } from './figures/tenants.ts';
import { triads } from './figures/triads.ts';
import { viewPage } from './figures/view-page.ts';
import { waitingRuns } from './figures/waiting-runs.ts';
import { waveFigures } from './figures/wave-latency.ts';
import { workers } from './figures/workers.ts';
import { design } from './figures/design.ts';
import { deepRun } from './figures/deep-run.ts';
import { wideWaves } from './figures/wide-waves.ts';
import { words } from './figures/words.ts';
import { describeMachine } from './machine.ts';
import { renderJson, renderMarkdown, renderReport, replaceFigures } from './report.ts';
import type { BenchReport } from './report.ts';

/** In the order of the report. */
const allFigures: readonly Figure[] = [
  ...waveFigures,
  manyWaves,
  workers,
  tenants,
  triads,
  historyGrowth,
  wideWaves,
  deepRun,
  makespan,
  design,
  storeTurns,
  stores,
  promptCache,
  words,
  waitingRuns,
  tools,
  viewPage,
  coldStart,
];

const page = join(root, 'docs', 'benchmark.md');

/** The exit code of a command that Ctrl-C ended, by the shell's convention. */
const interruptedExitCode = 130;

/**
 * `npm run bench`: measures the figures and reports them.
 *
 * @returns 0 also when a target was not reached: it is a report. 1 when a measurement failed.
 */
export async function main(args: readonly string[]): Promise<number> {
  const options = readBenchOptions(args, allFigures);
  if (options.help) {
    console.log(benchUsage(allFigures));
    return 0;
  }
  const stop = listenForStop();
  const context = createFigureContext(options);
  const report = await Promise.race([measure(options, context), stop.asked]);
  if (report === undefined) {
    await context.closeStages();
    return interruptedExitCode;
  }
  console.log(options.json ? renderJson(report) : renderReport(report));
  if (report.failed.length > 0) return 1;
  if (options.write) {
    writeFileSync(page, replaceFigures(readFileSync(page, 'utf8'), renderMarkdown(report)));
    context.say('The figures are in docs/benchmark.md.');
  }
  return 0;
}

async function measure(
  { figures, trial }: BenchOptions,
  context: BenchContext,
): Promise<BenchReport> {
  const measured_at = new Date().toISOString();
  const machine = await describeMachine();
  const rows: FigureRow[] = [];
  const failed: string[] = [];
  for (const figure of figures) {
    context.say(`${figure.name}: ${figure.about}`);
    try {
      // One after the other: they would measure each other.
      // oxlint-disable-next-line no-await-in-loop
      rows.push(...(await figure.measure(context)));
    } catch (error) {
      context.say(`${figure.name} could not be measured: ${describeChain(error)}`);
      failed.push(figure.name);
    }
  }
  return { measured_at, trial, machine, figures: rows, failed };
}

/** Describes an error with its causes, because the client's own message omits the server's. */
function describeChain(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${describeChain(cause)}`;
}
