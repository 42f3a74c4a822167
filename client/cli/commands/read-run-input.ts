import { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { commandText } from '../../command-text.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { checkInput, definedOnly, isRecord, readJsonFile } from './json-file.ts';
import { readSettings } from './run-settings-options.ts';
import type { SettingsOptions } from './run-settings-options.ts';

export interface StartOptions extends SettingsOptions {
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
  readonly input?: string;
}

/**
 * The input of a run: the file's fields, and over them what was given on the command line.
 * @throws CliError with every fault at once
 */
export async function readRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  goal: string | undefined,
  options: StartOptions,
): Promise<PlannerRunInput> {
  const file = options.input === undefined ? {} : await readRunFile(deps, options.input);
  const merged = {
    ...file,
    ...definedOnly({
      goal,
      constraints: options.constraint,
      criteria: options.criterion,
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
