import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CliDeps } from '../cli-deps.ts';
import { definedOnly, mergeFields } from './json-file.ts';
import { readAmount } from './read-amount.ts';
import { readWholeNumber } from './read-whole-number.ts';

/** What can be set for whatever is started. */
export interface SettingsOptions {
  readonly id?: string;
  readonly agents?: string;
  readonly workspace?: string;
  readonly language?: string;
  readonly defaults?: boolean;
  readonly assume?: boolean;
  readonly deadline?: number;
  readonly remind?: number;
  readonly escalateTo?: string;
  readonly escalateAfter?: number;
  readonly maxTurns?: number;
  readonly maxOutputTokens?: number;
  readonly budgetUsd?: number;
  readonly budgetTokens?: number;
  readonly budgetCalls?: number;
  readonly budgetMinutes?: number;
}

export function addWorkOptions(command: Command): Command {
  return command
    .option('--agents <folder>', 'folder with your own agents, on the machine of the worker')
    .option('--workspace <folder>', 'where agents write files, on the machine of the worker')
    .option(
      '--language <tag>',
      'language of all that you read, such as "de"; else that of the goal',
    )
    .option('--defaults', 'take the default of each question at once, where it has one');
}

export function addQuestionOptions(command: Command): Command {
  return command
    .option('--assume', 'let agents assume what is not critical, instead of asking')
    .option(
      '--deadline <seconds>',
      'take the default of a question after so long, where it has one',
      readWholeNumber,
    )
    .option('--remind <seconds>', 'first reminder of an open question', readWholeNumber)
    .option('--escalate-to <person>', 'who an open question is for, too, after --escalate-after')
    .option('--escalate-after <seconds>', 'see --escalate-to', readWholeNumber);
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-turns <count>', 'model calls of one delegation', readWholeNumber)
    .option('--max-output-tokens <count>', 'output tokens of one model call', readWholeNumber)
    .option('--budget-usd <amount>', 'US dollars that the run may spend', readAmount)
    .option('--budget-tokens <count>', 'tokens that the run may use', readWholeNumber)
    .option('--budget-calls <count>', 'model calls that the run may make', readWholeNumber)
    .option('--budget-minutes <count>', 'minutes that the run may work', readAmount);
}

/**
 * The settings of an input: the file's, and over them what was given on the command line.
 *
 * @param limits those that only one kind of input has.
 */
export function readSettings(
  { cwd }: Pick<CliDeps, 'cwd'>,
  file: Readonly<Record<string, unknown>>,
  options: SettingsOptions,
  limits: Readonly<Record<string, number | undefined>> = {},
): Record<string, unknown> {
  const allLimits = definedOnly({
    ...limits,
    max_turns: options.maxTurns,
    max_output_tokens: options.maxOutputTokens,
  });
  const budget = definedOnly({
    usd: options.budgetUsd,
    tokens: options.budgetTokens,
    calls: options.budgetCalls,
    minutes: options.budgetMinutes,
  });
  const handOver = definedOnly({
    person: options.escalateTo,
    after_seconds: options.escalateAfter,
  });
  const questions = definedOnly({
    deadline_seconds: options.deadline,
    remind_seconds: options.remind,
    escalate_to: Object.keys(handOver).length === 0 ? undefined : handOver,
  });
  return definedOnly({
    use_defaults: options.defaults,
    autonomy: options.assume === true ? 'assume' : undefined,
    agents_dir: options.agents === undefined ? undefined : resolve(cwd, options.agents),
    workspace_dir: options.workspace === undefined ? undefined : resolve(cwd, options.workspace),
    language: options.language,
    questions: mergeFields(file['questions'], questions),
    limits: mergeFields(file['limits'], allLimits),
    budget: mergeFields(file['budget'], budget),
  });
}
