import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { triadTypes } from '../../../contracts/names.ts';
import type { BudgetInput } from '../../../contracts/budget.ts';
import { Tenant, type ChangesMode, type LimitsInput } from '../../../contracts/limits.ts';
import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import type { QuestionRulesInput } from '../../../contracts/question.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import { definedOnly, isRecord } from '../../../core/json.ts';
import { capitalise } from '../../../core/text/format.ts';
import { describeChoices } from '../../../core/text/list-names.ts';
import { badInput, type CliError } from '../cli-error.ts';

/** Path of a field of an input. */
type Field =
  | keyof PlannerRunInput
  | keyof TeamInput
  | `limits.${keyof LimitsInput}`
  | `budget.${keyof BudgetInput}`
  | `questions.${keyof QuestionRulesInput | 'escalate_to.person' | 'escalate_to.after_seconds'}`;

/**
 * An option of a command that starts work. `field` is the one that its value becomes, if it is no more than that. If `read`
 * is undefined, a value called count, seconds, days or 1-5 is a whole number of at least 1, any other a text. A list names the choices.
 */
export type InputOption = readonly [
  flags: string,
  does: string,
  field?: Field | null,
  read?: ((typed: string) => unknown) | readonly string[],
];

/** Options as Commander read them. Those named here are used beyond the input. */
export interface InputOptions {
  readonly [name: string]: unknown;
  readonly id?: string;
  readonly agents?: string;
  /** False with `--no-check`. */
  readonly check?: boolean;
  readonly workspace?: string;
  /** False with `--no-apply`. */
  readonly apply?: boolean;
  readonly commit?: boolean;
  readonly direct?: boolean;
  readonly defaults?: boolean;
  readonly assume?: boolean;
}

export const workOptions: readonly InputOption[] = [
  ['--agents <folder>', "folder with your own agents, on the worker's machine"],
  ['--workspace <folder>', "folder where agents write files, on the worker's machine"],
  ['--apply', "apply the agents' changes to the workspace at the end, without asking"],
  ['--no-apply', "keep the agents' changes for `planwave apply`, without asking"],
  ['--commit', 'like --apply, but as one commit of a clean git repository'],
  ['--direct', 'let agents change the workspace itself instead of copies'],
  ['--no-check', 'leave the check of agents, members and folders to the worker'],
  [
    '--language <tag>',
    'language of all texts for people, for example "de"; default: the language of the goal',
    'language',
  ],
  [
    '--notes',
    'let agents keep notes of all they assume, and settle them before they finish',
    'notes',
  ],
  ['--priority <1-5>', 'urgency: 1 is served first, 5 last; default 3', 'priority'],
  [
    '--tenant <name>',
    'customer for whom the run works; workers serve tenants in turn, and each may have a budget',
    'tenant',
  ],
  ['--defaults', 'answer each question with its default at once, if it has one', 'use_defaults'],
  ['--unattended', 'like --defaults; a question without a default ends the work', 'unattended'],
  ['--agents-model <name>', 'model of all agents, instead of those of their files', 'agents_model'],
];

export const signerOption: InputOption = [
  '--as <name>',
  'your name, which signs your answers; where PLANWAVE_APPROVERS names people, a decision needs it',
];

export const questionOptions: readonly InputOption[] = [
  ['--assume', 'turn questions that are not critical into recorded assumptions'],
  ['--verify', 'let an agent that is not the author verify every output'],
  [
    '--verify-criteria <ids>',
    'like --verify, but only outputs for these criteria: "goal-1" is your first one ("c1" for a team), "goal-1,goal-3" are two',
    null,
    (ids) => ids.split(',').map((id) => id.trim()),
  ],
  [
    '--verify-triad <type>',
    'let three agents judge together instead; alone, like --verify',
    'verify_triad',
    triadTypes,
  ],
  [
    '--deadline <seconds>',
    'answer a question with its default after this time, if it has one',
    'questions.deadline_seconds',
  ],
  [
    '--remind <seconds>',
    'time until the first reminder of an open question',
    'questions.remind_seconds',
  ],
  [
    '--escalate-to <person>',
    'person who is also asked after --escalate-after',
    'questions.escalate_to.person',
  ],
  [
    '--escalate-after <seconds>',
    'time until --escalate-to takes effect',
    'questions.escalate_to.after_seconds',
  ],
];

export const limitOptions: readonly InputOption[] = [
  ['--max-turns <count>', 'model calls per delegation', 'limits.max_turns'],
  ['--max-output-tokens <count>', 'output tokens per model call', 'limits.max_output_tokens'],
  ['--budget-usd <amount>', 'budget in US dollars', 'budget.usd', readAmount],
  ['--budget-tokens <count>', 'budget in tokens', 'budget.tokens'],
  ['--budget-calls <count>', 'budget in model calls', 'budget.calls'],
  ['--budget-minutes <count>', 'budget in minutes of work', 'budget.minutes', readAmount],
];

export function addOptions(command: Command, options: readonly InputOption[]): Command {
  for (const [flags, does, , read] of options) {
    const isCount = /<(?:count|seconds|days|1-5)>$/.test(flags);
    const option = new Option(flags, does);
    const reader = read ?? (isCount ? readWholeNumber : undefined);
    if (typeof reader === 'function') option.argParser(reader);
    else if (reader !== undefined) option.choices(reader).argParser(createChoice(reader));
    command.addOption(option);
    if (option.negate) refuseOpposites(command, option);
  }
  return command;
}

/** Refuses an option beside its opposite: Commander keeps the last one and does not tell of the other. */
function refuseOpposites(command: Command, negated: Option): void {
  const name = negated.name();
  const pair = [name.replace(/^no-/, ''), name];
  if (!command.options.some((option) => option.name() === pair[0])) return;
  const given = new Set<string>();
  for (const one of pair) {
    command.on(`option:${one}`, () => {
      if (given.add(one).size === pair.length) throw contradiction(pair.map((word) => `--${word}`));
    });
  }
}

/** Creates the error for options of which only one can be meant. */
function contradiction(flags: readonly string[]): CliError {
  const shown = `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`;
  return badInput(`Expected one of ${shown}. Try: leave the others out`);
}

/** Creates the error for an option that changes nothing without another one. */
export function refuseAlone(flag: string, other: string): CliError {
  return badInput(`${flag} changes nothing without ${other}. Try: add it, or leave ${flag} out`);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Overrides the fields of a file by what was given on the command line.
 *
 * @param cwd folder that the paths of options start from
 * @throws CliError when options contradict each other, or one has no effect without another
 */
export function mergeInput(
  cwd: string,
  file: Fields,
  given: InputOptions,
  options: readonly InputOption[],
): Fields {
  let fields: Fields = definedOnly({
    agents_dir: given.agents === undefined ? undefined : resolve(cwd, given.agents),
    workspace_dir: given.workspace === undefined ? undefined : resolve(cwd, given.workspace),
    changes: readFate(given, file),
    autonomy: given.assume === true ? 'assume' : undefined,
    verify: readVerified(given),
  });
  for (const [flags, , field] of options) {
    const option = new Option(flags);
    const value = given[option.attributeName()];
    // Without its `--no-` option, Commander says true.
    const isGiven = value !== undefined && !(option.negate && value === true);
    if (isGiven && typeof field === 'string') fields = putInto(fields, field.split('.'), value);
  }
  return mergeFields(file, fields);
}

/** A field that was given replaces that of the file; one with fields of its own is merged with it. */
function mergeFields(file: Fields, given: Fields): Fields {
  const merged = Object.entries(given).map(([name, value]) => {
    const before = file[name];
    return [
      name,
      isRecord(before) && isRecord(value) ? mergeFields(before, value) : value,
    ] as const;
  });
  return { ...file, ...Object.fromEntries(merged) };
}

function putInto(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  if (rest.length === 0) return { ...fields, [name]: value };
  const inner = fields[name];
  return { ...fields, [name]: putInto(isRecord(inner) ? inner : {}, rest, value) };
}

/** Reads which outputs are to be verified. @throws CliError for all of them and only some at once */
function readVerified({ verify, verifyCriteria }: InputOptions): unknown {
  if (verify === undefined) return verifyCriteria;
  if (verifyCriteria === undefined) return verify;
  throw contradiction(['--verify', '--verify-criteria']);
}

/** Reads the fate of the agents' changes. @throws CliError for two of them, and where there is no workspace to change */
function readFate(
  { apply, commit, direct, workspace }: InputOptions,
  file: Fields,
): ChangesMode | undefined {
  const fates = [
    { flag: '--apply', mode: 'apply', isChosen: apply === true },
    { flag: '--no-apply', mode: 'keep', isChosen: apply === false },
    { flag: '--commit', mode: 'commit', isChosen: commit === true },
    { flag: '--direct', mode: 'direct', isChosen: direct === true },
  ] as const;
  const [chosen, second] = fates.filter(({ isChosen }) => isChosen);
  if (chosen === undefined) return undefined;
  if (second !== undefined) throw contradiction(fates.map(({ flag }) => flag));
  if ((workspace ?? file['workspace_dir']) !== undefined) return chosen.mode;
  throw refuseAlone(chosen.flag, '--workspace <folder>');
}

/** Creates the reader of an option with a few possible values. It throws InvalidArgumentError for any other. */
export function createChoice<T extends string>(choices: readonly T[]): (typed: string) => T {
  return (typed) => {
    const chosen = choices.find((one) => one === typed);
    if (chosen !== undefined) return chosen;
    throw new InvalidArgumentError(capitalise(describeChoices(typed, choices)));
  };
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

/** Accepts 0 too. @throws InvalidArgumentError */
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
