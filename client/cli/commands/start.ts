import type { Command } from 'commander';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { safeJson } from '../terminal-text.ts';
import {
  readWholeNumber,
  addLimitOptions,
  addQuestionOptions,
  addWorkOptions,
  readSettings,
  type SettingsOptions,
} from './run-settings-options.ts';
import { follow } from './watch.ts';
import { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { workflowTypes } from '../../../contracts/names.ts';
import type { OpenRunInput } from '../../../contracts/activity-types.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { checkInput } from '../../check-input.ts';
import { readJsonFile } from './json-file.ts';
import { isRecord, definedOnly } from '../../../core/json.ts';
import { commandText } from '../../../core/text/format.ts';

export function registerStart(command: Command, runner: CommandRunner): void {
  addGoalOptions(addRunOptions(command)).action((goal: string | undefined, options: StartOptions) =>
    runner.run(command, async (context) => {
      const input = await readRunInput(context.deps, goal, options);
      return startRun(context, input, options);
    }),
  );
}

/** Adds the options of what runs a goal that a person typed: those that `readRunInput` reads beside `addRunSettings`. */
export function addGoalOptions(command: Command): Command {
  return command
    .option(
      '--mode <mode>',
      'direct; designed: a plan is designed and approved first; auto: the first plan decides',
    )
    .option('--yes', 'approve a designed plan without findings')
    .option(
      '--research-max-age <days>',
      'days for which research on a technology is reused',
      readWholeNumber,
    )
    .option('--input <file>', 'JSON file with the whole input; "-" reads standard input');
}

/** Adds the options of everything that starts a run at once. */
export function addRunOptions(command: Command): Command {
  command
    .option('--watch', 'show the run live until it ends')
    .option('--id <run>', 'id of the run; default: derived from the goal');
  return addRunSettings(command);
}

export function addRunSettings(command: Command): Command {
  command
    .option('--constraint <text...>', 'constraint for every plan')
    .option(
      '--criterion <text...>',
      'acceptance criterion: must be met with evidence before the run is done',
    );
  addWorkOptions(command)
    .option('--no-triads', 'do not use triads')
    .option('--no-teams', 'do not use teams');
  addQuestionOptions(command)
    .option('--max-waves <count>', 'waves before the run asks whether to continue', readWholeNumber)
    .option('--max-parallel <count>', 'delegations that work in parallel', readWholeNumber)
    .option('--max-delegations <count>', 'delegations per wave', readWholeNumber);
  return addLimitOptions(command);
}

/** Checks an input as a worker would, starts a run with it, and follows it with `--watch`. */
export async function startRun(
  context: CommandContext,
  input: PlannerRunInput,
  options: RunOptions,
): Promise<CommandResult> {
  if (options.check !== false) await checkBeforehand(context, workflowTypes.plannerRun, input);
  const { client } = await context.session();
  const { run_id } = await client.startRun(input, { run_id: options.id });
  context.deps.onStarted?.(run_id);
  const data = { run_id, watch: commandText('watch', run_id) };
  if (options.watch !== true) {
    return { data, lines: [`Started ${run_id}.`, `Watch it with: ${data.watch}`] };
  }
  const { stdout } = context.deps.io;
  stdout.write(
    context.json ? `${safeJson({ type: 'started', ...data })}\n` : `Started ${run_id}.\n`,
  );
  return follow(context, run_id, { defaults: options.defaults === true });
}

/** The server is on this machine, and so the worker is taken to see the same files. */
const localAddress = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]):/;

/** @throws CliError with every fault that a worker would find after the start */
export async function checkBeforehand(
  { deps, session }: CommandContext,
  workflowType: OpenRunInput['workflow_type'],
  input: object,
): Promise<void> {
  const { address } = await session();
  if (localAddress.test(address)) await deps.checkInput?.(workflowType, input);
}

/** Options of everything that starts a run. */
export interface RunOptions extends SettingsOptions {
  readonly watch?: boolean;
  readonly constraint?: readonly string[];
  readonly criterion?: readonly string[];
  /** False with `--no-triads`. */
  readonly triads?: boolean;
  /** False with `--no-teams`. */
  readonly teams?: boolean;
  readonly maxWaves?: number;
  readonly maxParallel?: number;
  readonly maxDelegations?: number;
}

export interface StartOptions extends RunOptions {
  readonly mode?: string;
  readonly yes?: boolean;
  readonly researchMaxAge?: number;
  readonly input?: string;
}

/**
 * Reads the input of a run: the file's fields, overridden by what was given on the command line.
 * @throws CliError with every error at once
 */
export async function readRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  goal: string | undefined,
  options: StartOptions,
): Promise<PlannerRunInput> {
  const file = options.input === undefined ? {} : await readRunFile(deps, options.input);
  return mergeRunInput(deps, file, goal, options);
}

/** Overrides an input's fields by what was given on the command line. @throws CliError with every error at once */
export function mergeRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  file: Readonly<Record<string, unknown>>,
  goal: string | undefined,
  options: StartOptions,
): PlannerRunInput {
  const merged = {
    ...file,
    ...definedOnly({
      goal,
      constraints: options.constraint,
      criteria: options.criterion,
      mode: options.mode,
      auto_approve: options.yes,
      research_max_age_days: options.researchMaxAge,
      triads: options.triads === false ? false : undefined,
      teams: options.teams === false ? false : undefined,
    }),
    ...readSettings(deps, file, options, {
      max_waves: options.maxWaves,
      max_parallel: options.maxParallel,
      max_delegations: options.maxDelegations,
    }),
  };
  if (!('goal' in merged)) {
    throw badInput(`A goal is missing. Try: ${commandText('start', 'Compare three ways to …')}`);
  }
  return checkInput(PlannerRunInput, merged, { of: 'run', file: options.input });
}

async function readRunFile(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { value, where } = await readJsonFile(deps, name);
  if (isRecord(value)) return value;
  throw badInput(`${where}: expected one JSON object. Try: {"goal":"Compare three ways to …"}`);
}
