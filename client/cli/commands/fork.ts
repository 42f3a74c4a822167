import type { Command } from 'commander';
import type { ForkOffer } from '../../../contracts/fork.ts';
import { countOf, formatUsage, commandText } from '../../../core/text/format.ts';
import { badInput } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { inHomeOf } from '../other-home.ts';
import { confirm } from '../cli-io.ts';
import { cleanLine } from '../terminal-text.ts';
import { addOptions, readWholeNumber } from './input-options.ts';
import { mergeRunInput, runOptions, startRun, type RunOptions } from './start.ts';

interface ForkOptions extends RunOptions {
  readonly wave: number;
  readonly amend?: string;
  readonly yes?: boolean;
}

export function registerFork(command: Command, runner: CommandRunner): void {
  addOptions(command, runOptions)
    .requiredOption('--wave <number>', 'first wave that is done anew, from 2', readWholeNumber)
    .option('--amend <instruction>', 'instruction for the rest of the work, in quotes')
    .option('--yes', 'do not ask for confirmation of the price')
    .action(runner(fork));
}

async function fork(
  context: CommandContext,
  runId: string,
  options: ForkOptions,
): Promise<CommandResult> {
  const { wave, amend, yes = false, criterion = [], ...rest } = options;
  const offer = await inHomeOf(context, runId, () =>
    context.deps.offerFork({ run_id: runId, wave }),
  );
  // A plan travels with the results that were reached by it.
  const { plan: _plan, criteria, ...input } = offer.input;
  const known = Array.isArray(criteria) ? criteria : [];
  const merged = mergeRunInput(
    context.deps,
    {
      ...input,
      from: { run_id: runId, wave, ...(amend !== undefined && { instruction: amend }) },
      ...(known.length + criterion.length > 0 && { criteria: [...known, ...criterion] }),
    },
    undefined,
    rest,
  );
  const price = describePrice(offer, runId, wave);
  if (!yes && !(await isWanted(context, price, runId, wave))) {
    return { data: { run_id: null }, lines: ['Nothing was started.'] };
  }
  const started = await startRun(context, merged, rest);
  const { reused, rest: expected } = offer;
  const data =
    started.data === undefined
      ? undefined
      : { ...Object(started.data), from: runId, wave, reused, expected };
  return { ...started, data, lines: [...(yes ? price : []), ...started.lines] };
}

/** @throws CliError when there is no terminal to ask in */
async function isWanted(
  { deps: { io }, json }: CommandContext,
  price: readonly string[],
  runId: string,
  wave: number,
): Promise<boolean> {
  if (json || !io.isTerminal) {
    throw badInput(
      [
        ...price,
        'Without a terminal, --yes has to confirm it. ' +
          `Try: ${commandText('fork', runId, '--wave', String(wave), '--yes')}`,
      ].join('\n'),
    );
  }
  return confirm(io, `${price.join('\n')}\nStart?`);
}

/** Describes the price of a fork: what is not paid again, and what the other run paid for the rest. */
function describePrice({ reused, rest }: ForkOffer, runId: string, wave: number): string[] {
  const id = cleanLine(runId);
  const before = wave === 2 ? 'wave 1' : `waves 1 to ${wave - 1}`;
  const delegations = countOf(reused.delegations, 'delegation');
  const paid = formatUsage(rest.usage);
  const known = rest.ended
    ? `From wave ${wave} on, ${id} took ${paid}. This run will take about as much with the same models and work`
    : `${id} has not ended: from wave ${wave} on, it has taken ${paid} so far`;
  return [
    `Taken over from ${id}, not paid again: ${before} with ${delegations} (${formatUsage(reused.usage)})`,
    rest.usage.calls === 0 && rest.ended
      ? `${id} ended before wave ${wave}, so the price of what comes is not known`
      : known,
  ];
}
