import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { mergeFields } from './json-file.ts';
import { definedOnly } from '../../../core/json.ts';
import { triadTypes } from '../../../contracts/names.ts';
import { Tenant, type ChangesMode } from '../../../contracts/limits.ts';

export interface SettingsOptions {
  readonly id?: string;
  readonly agents?: string;
  /** False with `--no-check`. */
  readonly check?: boolean;
  readonly workspace?: string;
  /** False with `--no-apply`. */
  readonly apply?: boolean;
  readonly commit?: boolean;
  readonly direct?: boolean;
  readonly language?: string;
  readonly priority?: number;
  readonly tenant?: string;
  readonly defaults?: boolean;
  readonly unattended?: boolean;
  readonly agentsModel?: string;
  readonly notes?: boolean;
  readonly assume?: boolean;
  readonly verify?: boolean;
  readonly verifyCriteria?: readonly string[];
  readonly verifyTriad?: string;
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
    .option('--agents <folder>', "folder with your own agents, on the worker's machine")
    .option('--workspace <folder>', "folder where agents write files, on the worker's machine")
    .option('--apply', "apply the agents' changes to the workspace at the end, without asking")
    .option('--no-apply', "keep the agents' changes for `planwave apply`, without asking")
    .option('--commit', 'like --apply, but as one commit of a clean git repository')
    .option('--direct', 'let agents change the workspace itself instead of copies')
    .option('--no-check', 'leave the check of agents, members and folders to the worker')
    .option(
      '--language <tag>',
      'language of all texts for people, for example "de"; default: the language of the goal',
    )
    .option(
      '--notes',
      'let agents keep notes of all they assume, and settle them before they finish',
    )
    .option('--priority <1-5>', 'urgency: 1 is served first, 5 last; default 3', readWholeNumber)
    .option(
      '--tenant <name>',
      'customer for whom the run works; workers serve tenants in turn, and each may have a budget',
    )
    .option('--defaults', 'answer each question with its default at once, if it has one')
    .option('--unattended', 'like --defaults; a question without a default ends the work')
    .option('--agents-model <name>', 'model of all agents, instead of those of their files');
}

export function addQuestionOptions(command: Command): Command {
  return command
    .option('--assume', 'turn questions that are not critical into recorded assumptions')
    .option('--verify', 'let an agent that is not the author verify every output')
    .option(
      '--verify-criteria <ids>',
      'like --verify, but only outputs for these criteria: "goal-1" is your first one, "goal-1,goal-3" are two',
      (ids: string) => ids.split(',').map((id) => id.trim()),
    )
    .addOption(
      new Option(
        '--verify-triad <type>',
        'let three agents judge together instead; alone, like --verify',
      ).choices(triadTypes),
    )
    .option(
      '--deadline <seconds>',
      'answer a question with its default after this time, if it has one',
      readWholeNumber,
    )
    .option(
      '--remind <seconds>',
      'time until the first reminder of an open question',
      readWholeNumber,
    )
    .option('--escalate-to <person>', 'person who is also asked after --escalate-after')
    .option('--escalate-after <seconds>', 'time until --escalate-to takes effect', readWholeNumber);
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-turns <count>', 'model calls per delegation', readWholeNumber)
    .option('--max-output-tokens <count>', 'output tokens per model call', readWholeNumber)
    .option('--budget-usd <amount>', 'budget in US dollars', readAmount)
    .option('--budget-tokens <count>', 'budget in tokens', readWholeNumber)
    .option('--budget-calls <count>', 'budget in model calls', readWholeNumber)
    .option('--budget-minutes <count>', 'budget in minutes of work', readAmount);
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
    unattended: options.unattended,
    agents_model: options.agentsModel,
    notes: options.notes,
    verify: options.verify ?? options.verifyCriteria,
    verify_triad: options.verifyTriad,
    autonomy: options.assume === true ? 'assume' : undefined,
    agents_dir: options.agents === undefined ? undefined : resolve(cwd, options.agents),
    workspace_dir: options.workspace === undefined ? undefined : resolve(cwd, options.workspace),
    changes: readChanges(options),
    language: options.language,
    priority: options.priority,
    tenant: options.tenant,
    questions: mergeFields(file['questions'], questions),
    limits: mergeFields(file['limits'], allLimits),
    budget: mergeFields(file['budget'], budget),
  });
}

/** @throws CliError when the options contradict each other */
function readChanges({ apply, commit, direct }: SettingsOptions): ChangesMode | undefined {
  const chosen: readonly (ChangesMode | false)[] = [
    apply === true && 'apply',
    apply === false && 'keep',
    commit === true && 'commit',
    direct === true && 'direct',
  ];
  const [mode, second] = chosen.filter((one) => one !== false);
  if (second === undefined) return mode;
  throw badInput('Expected one of --apply, --no-apply, --commit and --direct. Try: leave one out');
}

/** @throws InvalidArgumentError, which Commander shows with the option's name */
export function readAmount(typed: string): number {
  const amount = Number(typed);
  if (!/^[0-9]{1,9}(?:\.[0-9]{1,6})?$/.test(typed) || amount <= 0) {
    throw new InvalidArgumentError('Expected a number above 0, as in 2.50.');
  }
  return amount;
}

/** @throws InvalidArgumentError, which Commander shows with the option's name */
export function readWholeNumber(typed: string): number {
  return readFrom(1, typed);
}

/** As `readWholeNumber`, where none at all may be wanted. */
export function readWholeNumberOrNone(typed: string): number {
  return readFrom(0, typed);
}

function readFrom(least: number, typed: string): number {
  if (!/^[0-9]{1,9}$/.test(typed) || Number(typed) < least) {
    throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
  }
  return Number(typed);
}

/** @throws CliError for what is no port, with the name of the option. */
export function readPort(option: string, text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw badInput(`${option}: expected a port from 0 to 65535, got ${JSON.stringify(text)}`);
}

/** @throws CliError for what is no name. */
export function readTenant(name: string): string {
  const read = Tenant.safeParse(name);
  if (read.success) return read.data;
  throw badInput(`${JSON.stringify(name)} is no tenant: ${read.error.issues[0]?.message ?? ''}`);
}
