import type { Command } from 'commander';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { safeJson } from '../terminal-text.ts';
import {
  addOptions,
  limitOptions,
  mergeInput,
  questionOptions,
  refuseAlone,
  signerOption,
  workOptions,
  type InputOption,
  type InputOptions,
} from './input-options.ts';
import { follow } from './watch.ts';
import { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { workflowTypes } from '../../../contracts/names.ts';
import type { OpenRunInput } from '../../../contracts/activity-types.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import { checkInput } from '../../check-input.ts';
import { readJsonFile } from './json-file.ts';
import { isRecord } from '../../../core/json.ts';
import { commandText } from '../../../core/text/format.ts';

export function registerStart(command: Command, runner: CommandRunner): void {
  addOptions(command, [...runOptions, ...goalOptions]).action(
    runner(async (context, goal: string | undefined, options: RunOptions) => {
      const input = await readRunInput(context.deps, goal, options);
      return startRun(context, input, options);
    }),
  );
}

/** Options of what runs a goal that a person typed. */
export const goalOptions: readonly InputOption[] = [
  [
    '--mode <mode>',
    'direct; designed: a plan is designed and approved first; auto: the first plan decides',
    'mode',
  ],
  ['--yes', 'approve a designed plan without findings', 'auto_approve'],
  [
    '--research-max-age <days>',
    'days for which research on a technology is reused',
    'research_max_age_days',
  ],
  ['--input <file>', 'JSON file with the whole input; "-" reads standard input'],
];

export const runSettings: readonly InputOption[] = [
  ['--constraint <text...>', 'constraint for every plan', 'constraints'],
  [
    '--criterion <text...>',
    'acceptance criterion: must be met with evidence before the run is done',
    'criteria',
  ],
  ...workOptions,
  ['--no-triads', 'do not use triads', 'triads'],
  ['--no-teams', 'do not use teams', 'teams'],
  ...questionOptions,
  ['--max-waves <count>', 'waves before the run asks whether to continue', 'limits.max_waves'],
  ['--max-parallel <count>', 'delegations that work in parallel', 'limits.max_parallel'],
  ['--max-delegations <count>', 'delegations per wave', 'limits.max_delegations'],
  ...limitOptions,
];

/** Options of everything that starts a run at once. */
export const runOptions: readonly InputOption[] = [
  ['--watch', 'show the run live until it ends'],
  signerOption,
  ['--id <run>', 'id of the run; default: derived from the goal'],
  ...runSettings,
];

/** Checks an input as a worker would, starts a run with it, and follows it with `--watch`. */
export async function startRun(
  context: CommandContext,
  input: PlannerRunInput,
  options: RunOptions,
): Promise<CommandResult> {
  if (options.check !== false)
    await checkBeforehand(context, workflowTypes.plannerRun, input, options.id);
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
  return follow(context, run_id, { defaults: options.defaults === true, as: options.as });
}

/** The server is on this machine, and so the worker is taken to see the same files. */
const localAddress = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]):/;

/**
 * @param runId Id of the new run, which may be that of a run that only the store remembers. If undefined, it gets one of its own.
 * @throws CliError with every fault that a worker would find after the start
 */
export async function checkBeforehand(
  { deps, session }: CommandContext,
  workflowType: OpenRunInput['workflow_type'],
  input: object,
  runId?: string,
): Promise<void> {
  const { address } = await session();
  if (!localAddress.test(address)) return;
  await deps.checkInput?.(workflowType, input);
  if (runId === undefined || !(await isStored(deps, runId))) return;
  const message =
    `a run ${JSON.stringify(runId)} exists already in this store, also if the server has forgotten it; nothing was started. ` +
    `Try: ${commandText('watch', runId)}, ${commandText('status', runId)}, or another --id; ` +
    'if the worker has another store: --no-check';
  throw new CliError('already_exists', exitCodes.badInput, message);
}

/** Returns false also where the store can't be read: that is the worker's to mend. */
async function isStored(deps: CliDeps, runId: string): Promise<boolean> {
  try {
    // To read a run would make the tables of a new database.
    if ((await deps.findStore?.()) === null) return false;
    const stored = await deps.readStoredStatus?.(runId);
    return stored !== null && stored !== undefined;
  } catch {
    return false;
  }
}

export interface RunOptions extends InputOptions {
  readonly watch?: boolean;
  readonly as?: string;
  readonly yes?: boolean;
  readonly researchMaxAge?: number;
  readonly constraint?: readonly string[];
  readonly criterion?: readonly string[];
  readonly input?: string;
}

/**
 * Reads the input of a run: the file's fields, overridden by what was given on the command line.
 * @throws CliError with every error at once
 */
export async function readRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  goal: string | undefined,
  options: RunOptions,
): Promise<PlannerRunInput> {
  const file = options.input === undefined ? {} : await readRunFile(deps, options.input);
  return mergeRunInput(deps, file, goal, options);
}

/** Overrides an input's fields by what was given on the command line. @throws CliError with every error at once */
export function mergeRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  file: Readonly<Record<string, unknown>>,
  goal: string | undefined,
  options: RunOptions,
): PlannerRunInput {
  const merged = {
    ...mergeInput(deps.cwd, file, options, [...runSettings, ...goalOptions]),
    ...(goal !== undefined && { goal }),
  };
  if (!('goal' in merged)) throw badInput(describeMissingGoal(options));
  const idle = findIdleOption(merged, options);
  if (idle !== null) throw refuseAlone(...idle);
  return checkInput(PlannerRunInput, merged, { of: 'run', file: options.input });
}

/** Finds an option that changes nothing, and the one that it needs. */
function findIdleOption(
  { mode = 'direct', plan, from }: Readonly<Record<string, unknown>>,
  { as, watch, yes, researchMaxAge }: RunOptions,
): readonly [flag: string, other: string] | null {
  if (as !== undefined && watch !== true) return ['--as', '--watch'];
  // A plan and a fork may have a design without naming a mode.
  if (mode !== 'direct' || plan !== undefined || from !== undefined) return null;
  const design = '--mode designed or --mode auto';
  if (yes === true) return ['--yes', design];
  return researchMaxAge === undefined ? null : ['--research-max-age', design];
}

/** An option that takes several values has taken a goal that stands behind it. */
function describeMissingGoal({ constraint = [], criterion = [] }: RunOptions): string {
  const cure = `Try: ${commandText('start', 'Compare three ways to …')}`;
  if (constraint.length + criterion.length === 0) return `A goal is missing. ${cure}`;
  return `A goal is missing. Options such as --criterion take every word behind them, so the goal comes first. ${cure}`;
}

async function readRunFile(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { value, where } = await readJsonFile(deps, name);
  if (isRecord(value)) return value;
  throw badInput(`${where}: expected one JSON object. Try: {"goal":"Compare three ways to …"}`);
}
